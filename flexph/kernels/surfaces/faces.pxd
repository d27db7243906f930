from ...numerics.loops.binding cimport bind
from ...numerics.loops.views cimport Mat, Vec, fill, part
from .segments cimport BASE, FIRST, SECOND, SLOPE, SQUARE, mean_slopes

cdef Py_ssize_t PRODUCTS
cdef Py_ssize_t BENT
cdef Py_ssize_t FEATURE
cdef Py_ssize_t INSIDE
cdef Py_ssize_t ALONG_FIRST
cdef Py_ssize_t ALONG_SECOND
cdef Py_ssize_t ACROSS
cdef Py_ssize_t CORNER
cdef double FLAT

cdef void closest_on_face(Py_ssize_t corners, Vec x, Vec out) noexcept nogil
cdef void _keep_if_closer(Vec x, double s, double t, Py_ssize_t feature, Vec out) noexcept nogil
cdef bint _try_inside(Vec x, Vec out) noexcept nogil
cdef void _try_first_edge(Vec x, Vec out) noexcept nogil
cdef void _try_second_edge(Vec x, Vec out) noexcept nogil
cdef void _try_third_edge(Vec x, Vec out) noexcept nogil
cdef void _take_on_edge(Vec x, double place, Py_ssize_t edge, Vec out) noexcept nogil
cdef void _second_derivatives(Vec x, Vec out) noexcept nogil
