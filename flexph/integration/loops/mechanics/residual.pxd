from ....numerics.loops.views cimport Number
from ....numerics.loops.views cimport Vec as AnyVec
from ....numerics.loops.views cimport Vec, average, call_one, copy, entries, mix
from ..contact.forces cimport evaluate_contacts
from ..decay.step cimport end_rates, soften
from ..memory.memory cimport Memory
from ..memory.memory cimport Memory as AnyMemory
from ..nodal.flow cimport push_flows
from ..nodal.forces cimport pull_strains, strain
from .curves cimport add_curve_gaps, push_along_curves
from ..terms.paths cimport follow_curves
from ..solids.forces cimport pull_solids, strain_solids
from .forces cimport act, forces, pull_products, turn_loads
from .motion cimport inertia_products, mean_shapes, momenta, node_arms, vectors
from .rolling cimport add_gap
from .slips cimport slide

cdef void take_stresses(Memory* m, double h) noexcept nogil
cdef void predict_body_stresses(Memory* m, double h) noexcept nogil
cdef void _strain(Memory* m, Vec rows, Vec rates) noexcept nogil
cdef void stress_rates(Memory* m) noexcept nogil
cdef void turn_strain_rows(AnyMemory* m, Number factor, Vec u, AnyVec rows) noexcept nogil
cdef void stiffen(Memory* m, Vec strains, Vec stresses) noexcept nogil
cdef void resist(Memory* m, double h) noexcept nogil
cdef void _drag(Memory* m, double h) noexcept nogil
cdef void residual(Memory* m, Py_ssize_t dim, int decay, int contact, double h, Vec before, Vec after, Vec offset, Vec inputs) noexcept nogil
cdef void balance_momenta(Memory* m, Py_ssize_t dim, int decay, int contact, double h) noexcept nogil
cdef void trial(Memory* m, Py_ssize_t dim, int decay, int contact, double h, Vec before, Vec after, Vec offset, Vec inputs) noexcept nogil
cdef void _gap(Memory* m, Vec after, Vec offset) noexcept nogil
cdef void move(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _turn_in_the_plane(Memory* m, double h, Py_ssize_t b) noexcept nogil
cdef void _turn_in_space(Memory* m, double h, Py_ssize_t b) noexcept nogil
cdef void _turn_products(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _stress(Memory* m, double h) noexcept nogil
cdef void balance(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef double _turning(Memory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t i) noexcept nogil
cdef double _inertial_force(Memory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t i) noexcept nogil
