from ....numerics.loops.views cimport Vec, copy, fill
from ..contact.forces cimport push_nodes, twist_bodies
from ..memory.memory cimport Memory
from ..nodal.points cimport pull_means
from ..terms.hysteresis cimport follow_path
from .rolling cimport pull, twist
from .springs cimport measure

cdef void constrain(Memory* m, Vec before, Vec after) noexcept nogil
cdef void turn_loads(Memory* m, Py_ssize_t dim, Vec inputs) noexcept nogil
cdef void forces(Memory* m, Py_ssize_t dim, int contact) noexcept nogil
cdef void pull_nodes(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void apply_loads(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void sum_by_body(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void sum_nodes(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void act(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void act_on_nodes(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void pull_products(Memory* m, double h, Vec before, Vec after) noexcept nogil
