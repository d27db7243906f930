from ....numerics.loops.views cimport Vec, copy, fill
from ..mechanics.forces cimport add_forces_on_nodes, add_node_resultants, subtract_node_loads
from ..mechanics.ledger_rows cimport velocity_defect
from ..mechanics.motion cimport derive_momenta, inertia_products
from ..mechanics.residual cimport balance_momenta, connect, move_and_strain, turn_products
from ..memory.memory cimport Memory
from ..memory.structures cimport Given
from ..nodal.points cimport distribute_mean_forces

cdef void set_defects(Memory* m, Py_ssize_t dim, Given given, Vec matrices, Vec out) noexcept nogil
cdef void _soften(Memory* m, Vec matrices) noexcept nogil
cdef void _set_end_rates(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void _write_rate_defects(Memory* m, Py_ssize_t dim, Vec matrices, Vec out) noexcept nogil
cdef void _write_impulse_defects(Memory* m, Py_ssize_t dim, Given given, Vec out) noexcept nogil
cdef void _set_impulse_forces(Memory* m, Py_ssize_t dim, Vec after) noexcept nogil
