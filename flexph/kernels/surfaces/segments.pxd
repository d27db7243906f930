from ...numerics.loops.binding cimport bind
from ...numerics.loops.views cimport Mat, Vec, fill, larger, part
from libc.math cimport fabs

cdef Py_ssize_t SQUARE
cdef Py_ssize_t FIRST
cdef Py_ssize_t SECOND
cdef Py_ssize_t SLOPE
cdef Py_ssize_t BASE
cdef Py_ssize_t FIRST_SQUARE
cdef Py_ssize_t SECOND_SQUARE
cdef Py_ssize_t BEND
cdef double EVEN
cdef double SAME
cdef double NOISE

cdef void closest_points(Vec x, Vec out) noexcept nogil
cdef bint _is_inside(double s, double base) noexcept nogil
cdef double _within(double s, double base) noexcept nogil
cdef void _take_points(Vec x, double s, double t, Vec out) noexcept nogil
cdef void _second_derivatives(double a, double b, Vec x, Vec out) noexcept nogil
cdef void mean_slopes(Py_ssize_t count, Vec x, Vec y, Vec first, Vec last, Mat out) noexcept nogil
cdef double _terms(Py_ssize_t count, Vec x, Vec near) noexcept nogil
