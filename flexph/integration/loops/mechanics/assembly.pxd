from ....numerics.loops.views cimport Number
from ....numerics.loops.views cimport Vec, fill
from ..contact.jacobian cimport add_contacts
from ..decay.step cimport add_decay
from ..memory.memory cimport Memory
from ..memory.memory cimport Memory as AnyMemory
from ..memory.structures cimport Given
from ..nodal.flow cimport add_flows
from ..nodal.jacobian cimport add_strains
from ..solids.jacobian cimport add_solids
from .couplings cimport add_constraints, add_ends, add_products, add_rolling, add_ropes, add_springs, differentiate_vectors
from .curves cimport add_curves
from .jacobian cimport add_flexible, add_rigid, turn_bodies
from .slips cimport add_slips
from .turned_forces cimport add_following, add_turned_forces

cdef void assemble(AnyMemory* m, Py_ssize_t dim, int decay, Number h, Vec before, Vec after) noexcept nogil
cdef void _assemble(AnyMemory* m, Py_ssize_t dim, int decay, Number h, Vec before, Vec after) noexcept nogil
cdef void assemble_step(Memory* m, Py_ssize_t dim, int decay, int contact, Given given) noexcept nogil
