from ...numerics.loops.binding cimport bind
from ...numerics.loops.views cimport Mat, Vec, fill, larger
from .surfaces cimport Surfaces
from libc.math cimport fabs, sqrt

cdef Py_ssize_t VALUE
cdef Py_ssize_t SIZE
cdef Py_ssize_t SIGN
cdef Py_ssize_t CODE
cdef Py_ssize_t FLAT
cdef Py_ssize_t GRADIENT
cdef Py_ssize_t AWAY
cdef Py_ssize_t CURVATURE
cdef Py_ssize_t PLACE
cdef Py_ssize_t WIDTH
cdef Py_ssize_t MEETING
cdef double NEAR

cdef void nearest(Surfaces s, Py_ssize_t k, Py_ssize_t dim, Vec x, double blend, Vec out) noexcept nogil
cdef void _box(Surfaces s, Py_ssize_t k, Py_ssize_t dim, Vec x, Vec out) noexcept nogil
cdef void _inside(Surfaces s, Py_ssize_t k, Py_ssize_t dim, Vec x, Vec out) noexcept nogil
cdef void _mesh(Surfaces s, Py_ssize_t k, Py_ssize_t dim, Vec x, double blend, Vec out) noexcept nogil
cdef double _away_from_box(Surfaces s, Py_ssize_t node, Vec x) noexcept nogil
cdef double _square(Vec x, Vec out) noexcept nogil
cdef Py_ssize_t _closest(Surfaces s, Py_ssize_t t, Py_ssize_t dim, Vec x, Vec out) noexcept nogil
cdef Py_ssize_t _on_segment(Surfaces s, Py_ssize_t t, Vec x, Vec out) noexcept nogil
cdef Py_ssize_t _put_between(Vec a, Vec b, double share, Py_ssize_t region, Vec out) noexcept nogil
cdef Py_ssize_t _on_triangle(Surfaces s, Py_ssize_t t, Vec x, Vec out) noexcept nogil
cdef Py_ssize_t _put(Surfaces s, Py_ssize_t t, double v, double w, Py_ssize_t region, Vec out) noexcept nogil
cdef void _feature(Surfaces s, (Py_ssize_t, Py_ssize_t) cell, Py_ssize_t region, Py_ssize_t dim, Vec x, Vec out) noexcept nogil
cdef void _curvature(Surfaces s, Py_ssize_t t, Py_ssize_t region, Py_ssize_t dim, double weight, Vec out) noexcept nogil
cdef void _blend_faces(Surfaces s, Py_ssize_t k, Py_ssize_t dim, Vec x, double width, Vec out) noexcept nogil
cdef Py_ssize_t _blend_face(Surfaces s, (Py_ssize_t, Py_ssize_t) cell, Py_ssize_t dim, Vec x, double width, Vec out) noexcept nogil
cdef void _restart(Surfaces s, Py_ssize_t plane, Py_ssize_t dim, double rises, Vec out) noexcept nogil
cdef void _mix(Surfaces s, Py_ssize_t plane, Py_ssize_t dim, double rises, double width, Vec out) noexcept nogil
cdef void fill_curvature(Vec out) noexcept nogil
cdef void mean_gradient(Py_ssize_t dim, Vec x, Vec y, Vec first, Vec last, Mat out) noexcept nogil
cdef void _mean(Py_ssize_t dim, Vec first, Vec last, Mat out) noexcept nogil
cdef void _between(Py_ssize_t dim, Vec x, Vec y, Vec first, Vec last, Mat out) noexcept nogil
