from ...numerics.loops.binding cimport bind
from ...numerics.loops.views cimport Mat, Vec, fill, larger, part
from libc.math cimport fabs

cdef Py_ssize_t SQUARE
cdef Py_ssize_t FIRST
cdef Py_ssize_t SECOND
cdef Py_ssize_t SLOPE
cdef Py_ssize_t BEND
cdef double EVEN
cdef double SAME
cdef double NOISE

cdef void closest_points(double first, double second, Vec x, Vec out) noexcept nogil
cdef double _inner(double a, double b, Vec x) noexcept nogil
cdef double _within(double s) noexcept nogil
cdef void _take_points(double a, double b, Vec x, double s, double t, Vec out) noexcept nogil
cdef void _bend(double a, double b, Vec x, double s, double t, Vec out) noexcept nogil
cdef void mean_slopes(Vec x, Vec y, Vec first, Vec last, Mat out) noexcept nogil
cdef double _terms(Vec x, Vec near) noexcept nogil
