from ..loops.views cimport IVec, Mat, smaller_int, subtract, subtract_rows
from libc.math cimport fabs

cdef double DENSE
cdef double KEPT
cdef Py_ssize_t LANE

cdef bint factor(Mat A, IVec pivot, IVec entries, Py_ssize_t n) noexcept nogil
cdef bint _factor_sparse(Mat A, IVec pivot, IVec entries, Py_ssize_t n) noexcept nogil
cdef bint _factor_dense(Mat A, IVec pivot, Py_ssize_t n) noexcept nogil
cdef void _update(Mat A, Py_ssize_t first, Py_ssize_t end, Py_ssize_t n) noexcept nogil
