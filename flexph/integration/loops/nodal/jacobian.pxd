from ....numerics.loops.views cimport Vec, fill, flat, get, put, subtract
from ..memory.memory cimport Memory
from .forces cimport column_torque, partner, set_stress_forces
from ..terms.border cimport add, entry_of
from libc.math cimport sqrt

cdef void add_strains(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _turn_in_the_plane(Memory* m, double h, Py_ssize_t b) noexcept nogil
cdef void _turn_frame(Memory* m, Py_ssize_t b) noexcept nogil
cdef void _turn_torque(Memory* m, double h, Py_ssize_t b) noexcept nogil
cdef void _add_element(Memory* m, Py_ssize_t dim, double h, Py_ssize_t element) noexcept nogil
cdef void _add_row(Memory* m, double h, Py_ssize_t element, Py_ssize_t unknown, Vec row, Py_ssize_t at) noexcept nogil
cdef void _move_vectors(Memory* m, Py_ssize_t dim, double h, Py_ssize_t first, Py_ssize_t point) noexcept nogil
cdef void _differentiate_products(Memory* m, Py_ssize_t dim, Py_ssize_t point, Py_ssize_t count) noexcept nogil
cdef void _couple_products(Memory* m, double h, Py_ssize_t point) noexcept nogil
cdef void _add_law_stiffness(Memory* m, Py_ssize_t e, Py_ssize_t base) noexcept nogil
cdef void _add_strain_curvature(Memory* m, Py_ssize_t e, Py_ssize_t base) noexcept nogil
cdef void _combine_products(Memory* m, Py_ssize_t point, Py_ssize_t count) noexcept nogil
cdef void _add_vector_slopes(Memory* m, Py_ssize_t dim, Py_ssize_t point, Py_ssize_t count) noexcept nogil
