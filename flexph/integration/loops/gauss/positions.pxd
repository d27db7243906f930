from ....numerics.loops.views cimport copy, flat
from ..mechanics.forces cimport forces, write_world_loads
from ..mechanics.motion cimport inertia_products, vectors
from ..memory.memory cimport Memory
from ..memory.memory cimport stage
from ..memory.structures cimport AtNodes
from .nodes cimport add_field, row_of
from .rotations cimport drive_arm, factor_rotations, turn
from .scheme cimport Scheme
from .springs cimport set_product_forces
from .stresses cimport strain

cdef bint set_positions(Memory* m, Py_ssize_t dim, Scheme& g, double h, AtNodes given, bint begins) noexcept nogil
cdef void _set_centres(Memory* m, Py_ssize_t dim, Scheme& g, double h) noexcept nogil
cdef void _move_arms(Memory* m, Py_ssize_t dim, Scheme& g, double h) noexcept nogil
cdef bint _is_rigid(Memory* m, Py_ssize_t b) noexcept nogil
cdef void _turn_arm(Memory* s, Py_ssize_t dim, Py_ssize_t n) noexcept nogil
cdef void _set_shape_velocities(Memory* s, Py_ssize_t dim) noexcept nogil
cdef void _set_velocities(Memory* s, Py_ssize_t dim) noexcept nogil
cdef void _set_products(Memory* m, Py_ssize_t dim, Scheme& g, double h) noexcept nogil
cdef void _set_product_rates(Memory* s, Py_ssize_t dim) noexcept nogil
cdef void _collect_torques(Memory* m, Scheme& g, double h) noexcept nogil
