from ..loops.views cimport IVec, Mat, Vec, smaller_int, get, larger, magnitude, mix, larger_int, prefetch, put, real_part, subtract, divided
from ..loops.views cimport Mat as AnyMat
from ..loops.views cimport Number
from ..loops.views cimport Vec as AnyVec

cdef double LEAST
cdef Py_ssize_t SPARSE
cdef Py_ssize_t CACHED
cdef Py_ssize_t AHEAD
cdef Py_ssize_t LANES

cdef bint factor(AnyMat A, IVec pivot, Py_ssize_t w) noexcept nogil
cdef bint factor_first(AnyMat A, IVec pivot, Py_ssize_t w, Py_ssize_t count) noexcept nogil
cdef Py_ssize_t _pivot(AnyMat A, Py_ssize_t here, Py_ssize_t down, Py_ssize_t below) noexcept nogil
cdef Py_ssize_t _last(AnyMat A, Py_ssize_t here, Py_ssize_t step, Py_ssize_t count) noexcept nogil
cdef void solve(AnyMat A, IVec pivot, Py_ssize_t w, AnyVec x) noexcept nogil
cdef void forward(AnyMat A, IVec pivot, Py_ssize_t w, AnyVec x, Py_ssize_t count) noexcept nogil
cdef void backward(AnyMat A, Py_ssize_t w, AnyVec x, Py_ssize_t count) noexcept nogil
cdef void solve_many(AnyMat A, IVec pivot, Py_ssize_t w, AnyMat X) noexcept nogil
cdef void solve_transposed(Mat A, IVec pivot, Py_ssize_t w, Vec x) noexcept nogil
