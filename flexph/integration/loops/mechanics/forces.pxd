from ....numerics.loops.views cimport Vec, copy, fill
from ..contact.forces cimport add_contact_forces, add_contact_torques
from ..memory.memory cimport Memory
from ..nodal.points cimport distribute_mean_forces
from ..terms.hysteresis cimport follow_path
from .rolling cimport add_term_forces, add_term_torques
from .springs cimport set_tensions

cdef void set_constraint_forces(Memory* m, Vec before, Vec after) noexcept nogil
cdef void write_world_loads(Memory* m, Py_ssize_t dim, Vec inputs) noexcept nogil
cdef void forces(Memory* m, Py_ssize_t dim, int contact) noexcept nogil
cdef void _forces(Memory* m, Py_ssize_t dim, int contact) noexcept nogil
cdef void add_forces_on_nodes(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void apply_loads(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void add_resultants(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void add_node_resultants(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void subtract_loads(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void subtract_node_loads(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void set_forces_on_products(Memory* m, double h, Vec before, Vec after) noexcept nogil
