from ....numerics.loops.views cimport Ten, Vec, fill, larger, part
from ..memory.memory cimport Memory
from .pieces cimport add_chord, add_chord_change, add_shapes, end_used, first_used, foot, foot_from, is_beyond, sharpest_turn
from libc.math cimport fabs, sqrt

cdef double LEAST_COSINE
cdef double OFF

cdef void place_points(Memory* m) noexcept nogil
cdef void set_curves_at_rest(Memory* m) noexcept nogil
cdef void follow_curves(Memory* m) noexcept nogil
cdef void _follow(Memory* m, Py_ssize_t c, Vec end, double s1) noexcept nogil
cdef void set_shapes(Memory* m, Py_ssize_t c, double s, Py_ssize_t order, Vec out) noexcept nogil
cdef void sum_products(Memory* m, Py_ssize_t c, Vec product, Vec weight, Vec out) noexcept nogil
cdef void _write_resting_axes(Vec tangent, Ten resting, Py_ssize_t c) noexcept nogil
cdef void _set_directions(Memory* m, Py_ssize_t c) noexcept nogil
cdef bint leaves_curves(Memory* m) noexcept nogil
