from ....kernels.surfaces.segments cimport BASE, SLOPE, SQUARE
from ....numerics.loops.views cimport Vec, fill, larger, part
from ..memory.memory cimport Memory
from ..terms.border cimport add
from ..terms.nodes cimport differentiate_node
from .forces cimport is_active
from .gaps cimport distance_along, axial_weights, differentiate_gap, dot, place_vectors, rim_weights
from .rubbing cimport moment
from libc.math cimport sqrt

cdef Py_ssize_t ANGLE
cdef Py_ssize_t AXIAL
cdef Py_ssize_t FACE
cdef Py_ssize_t OFFSET
cdef Py_ssize_t RIM
cdef Py_ssize_t SEGMENTS
cdef Py_ssize_t SHAPE
cdef double TINY

cdef void add_contacts(Memory* m, Py_ssize_t dim, int contact, double h) noexcept nogil
cdef void _store_rate(Memory* m, Py_ssize_t dim, Py_ssize_t c, double h) noexcept nogil
cdef void _add_partner(Memory* m, Py_ssize_t dim, int contact, Py_ssize_t c, double h) noexcept nogil
cdef void _add_coupling(Memory* m, int contact, Py_ssize_t c, Py_ssize_t i, Py_ssize_t j, double value) noexcept nogil
cdef Py_ssize_t _first_row(Memory* m) noexcept nogil
cdef void differentiate_contact(Memory* m, Py_ssize_t dim, Py_ssize_t c, double h) noexcept nogil
cdef Py_ssize_t _columns(Memory* m, Py_ssize_t d, Py_ssize_t n, Py_ssize_t entry) noexcept nogil
cdef void _add_outer(Memory* m, int contact, Py_ssize_t c, double gain, Vec left, Vec right) noexcept nogil
cdef void _add_block(Memory* m, Py_ssize_t dim, int contact, Py_ssize_t c, double gain, (Py_ssize_t, Py_ssize_t) pair) noexcept nogil
cdef double _add_turning(Memory* m, Py_ssize_t dim, int contact, Py_ssize_t c, double h) noexcept nogil
cdef void _add_surface_direction(Memory* m, Py_ssize_t dim, int contact, Py_ssize_t c, double h) noexcept nogil
cdef void _add_segment_direction(Memory* m, Py_ssize_t dim, int contact, Py_ssize_t c, double push) noexcept nogil
cdef Py_ssize_t _first_of(Py_ssize_t k) noexcept nogil
cdef Py_ssize_t _second_of(Py_ssize_t k, Py_ssize_t count) noexcept nogil
cdef double _part_of_base(Memory* m, Py_ssize_t c, Py_ssize_t vector) noexcept nogil
cdef double _part_of(Memory* m, Py_ssize_t c, Py_ssize_t vector, Py_ssize_t other) noexcept nogil
cdef void _add_rim_direction(Memory* m, Py_ssize_t dim, int contact, Py_ssize_t c, double push) noexcept nogil
cdef void _differentiate_weights(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void _add_friction(Memory* m, Py_ssize_t dim, int contact, Py_ssize_t c, double h) noexcept nogil
cdef void _differentiate_slips(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef double _turned_arm(Memory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t a, Vec arm, Vec force) noexcept nogil
