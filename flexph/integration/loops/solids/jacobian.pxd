from ....numerics.loops.views cimport Vec, call_one, fill, get, padded, part, put, subtract
from ..memory.memory cimport Memory
from ..terms.border cimport add
from ..terms.nodes cimport cross_product
from .faces cimport add_slopes, face_block, add_face_forces
from .forces cimport set_place_forces, add_frame_torques
from .places cimport lever

cdef Py_ssize_t SLOPE

cdef void add_solids(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _set_stress(Memory* m, double h, double share) noexcept nogil
cdef void _turn_forces(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _turn_place(Memory* m, Py_ssize_t dim, Py_ssize_t k) noexcept nogil
cdef void _stiffen_cell(Memory* m, Py_ssize_t dim, double h, Py_ssize_t cell) noexcept nogil
cdef void _differentiate_forces(Memory* m, Py_ssize_t dim, double h, Py_ssize_t q) noexcept nogil
cdef void _add_cell(Memory* m, Py_ssize_t dim, double h, Py_ssize_t cell) noexcept nogil
cdef void _add_block(Memory* m, Py_ssize_t dim, double h, (Py_ssize_t, Py_ssize_t) places, Py_ssize_t k, Py_ssize_t width) noexcept nogil
