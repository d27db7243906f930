from ..loops.views cimport IVec, Mat, Vec, add_product, add_row, smaller_int, fill
from libc.math cimport copysign, fabs, sqrt

cdef double DOUBT
cdef Py_ssize_t BLOCK

cdef Py_ssize_t perpendicular(Mat A, double limit, Vec gain, Vec space, Mat out) noexcept nogil
cdef (Py_ssize_t, double) _longest(Mat A, Py_ssize_t j) noexcept nogil
cdef void _reflect(Mat A, Py_ssize_t j, double size, Vec gain, Vec space) noexcept nogil
cdef void least_squares(Mat A, Vec gain, Vec space, Vec x) noexcept nogil
cdef void factor(Mat A, IVec pivot) noexcept nogil
cdef void _factor_columns(Mat A, IVec pivot, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef void solve(Mat A, IVec pivot, Vec x) noexcept nogil
cdef void solve_many(Mat A, IVec pivot, Mat X) noexcept nogil
cdef void multiply(Mat A, Py_ssize_t skipped, Mat B, Mat out) noexcept nogil
cdef void add_rows(IVec col, Py_ssize_t first, Vec val, Mat B, Py_ssize_t row, Mat out) noexcept nogil
