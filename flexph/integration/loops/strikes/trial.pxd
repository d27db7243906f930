from ....numerics.loops.views cimport Vec, average, fill, larger, smaller
from ..contact.forces cimport add_contact_forces, add_contact_torques
from ..mechanics.forces cimport apply_loads, add_resultants, write_world_loads
from ..mechanics.motion cimport node_arms
from ..mechanics.residual cimport balance, move
from ..memory.memory cimport Memory
from ..steps.history cimport guess
from ..steps.newton cimport newton
from ..memory.structures cimport Given, Kinds
from .bodies cimport are_apart, set_inverse_jacobians
from .coupled cimport begin_joints, change_coupled, evaluate_coupled
from .marks cimport OPEN
from .rows cimport evaluate_contact
from libc.math cimport INFINITY, fabs, isfinite

cdef Py_ssize_t ITERATIONS
cdef Py_ssize_t RENEWED
cdef double SETTLED
cdef double STAGNATED

cdef void evaluate(Memory* m, Py_ssize_t dim, int kinds, Given given) noexcept nogil
cdef void _evaluate(Memory* m, Py_ssize_t dim, double h, Vec inputs) noexcept nogil
cdef bint solve_free(Memory* m, Py_ssize_t dim, int kinds, Given given, Py_ssize_t known) noexcept nogil
cdef void _clear_forces(Memory* m) noexcept nogil
cdef Py_ssize_t solve_without_contacts(Memory* m, Py_ssize_t dim, int kinds, Given given) noexcept nogil
cdef bint _solve_free(Memory* m, Py_ssize_t dim, Given given) noexcept nogil
cdef void begin_at_start(Memory* m) noexcept nogil
cdef double velocity_scale(Memory* m, double h) noexcept nogil
cdef void balance_bodies(Memory* m, Py_ssize_t dim, int kinds, double h) noexcept nogil
cdef void _balance_bodies(Memory* m) noexcept nogil
cdef double correct(Memory* m, double scale) noexcept nogil
