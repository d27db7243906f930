from libc.math cimport atan2, sqrt
from ..numerics.loops.views cimport Mat, Vec, part
from .seen cimport Measured, Seen

cdef inline Measured* measured_at(Py_ssize_t address) noexcept nogil:
    return <Measured*>address

cdef void _turn_in_plane(Vec y, double c, double t) noexcept nogil
cdef void _turn_in_space(Vec y, Vec R) noexcept nogil
cdef void _turn_node(Seen& s, Vec x, Py_ssize_t k, Vec place, Vec speed) noexcept nogil
cdef void _nodes(Seen& s, Vec x) noexcept nogil
cdef void _products(Seen& s) noexcept nogil
cdef void measure(Seen& s, Vec x, Mat out) noexcept nogil
