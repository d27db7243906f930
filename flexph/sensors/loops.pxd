from libc.math cimport atan2, sqrt
from ..numerics.loops.views cimport Mat, Vec, part
from .panel_arrays cimport SensorMemory, PanelArrays

cdef inline SensorMemory* measured_at(Py_ssize_t address) noexcept nogil:
    return <SensorMemory*>address

cdef void _turn_in_plane(Vec y, double c, double t) noexcept nogil
cdef void _turn_in_space(Vec y, Vec R) noexcept nogil
cdef void _turn_node(PanelArrays& s, Vec x, Py_ssize_t k, Vec place, Vec speed) noexcept nogil
cdef void _nodes(PanelArrays& s, Vec x) noexcept nogil
cdef void _products(PanelArrays& s) noexcept nogil
cdef void measure(PanelArrays& s, Vec x, Mat out) noexcept nogil
