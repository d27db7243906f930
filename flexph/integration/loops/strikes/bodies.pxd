from ....numerics.loops.views cimport Vec, fill
from ..contact.gaps cimport dot
from ..mechanics.jacobian cimport start_spin, turn_bodies
from ..memory.memory cimport Memory
from ..terms.nodes cimport differentiate_node
from libc.math cimport fabs

cdef Py_ssize_t DISTANCE

cdef bint are_apart(Memory* m) noexcept nogil
cdef void set_inverse_masses(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void set_inverse_jacobians(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _begin(Memory* m, Py_ssize_t d, Py_ssize_t b, double share) noexcept nogil
cdef void _add_spin(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b) noexcept nogil
cdef void _turn_nodes(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _axis_product(Memory* m, Py_ssize_t dim, Vec row, Py_ssize_t k, Py_ssize_t a, Vec out) noexcept nogil
cdef void _turn_ball(Memory* m, Py_ssize_t dim, Py_ssize_t c, Py_ssize_t k, double h) noexcept nogil
cdef void _invert(Memory* m, Py_ssize_t b) noexcept nogil
