from ....numerics.loops.views cimport Number
from ....numerics.loops.views cimport Vec as AnyVec
from ....numerics.loops.views cimport Vec, average, call_one, copy, entries, mix
from ..contact.forces cimport evaluate_contacts
from ..decay.step cimport end_rates, add_damping_stresses
from ..memory.memory cimport Memory
from ..memory.memory cimport Memory as AnyMemory
from ..memory.structures cimport Deformed, Given, Momenta
from ..nodal.flow cimport add_flow_forces
from ..nodal.forces cimport add_strain_forces, strain
from .curves cimport add_curve_gaps, add_curve_forces
from ..terms.paths cimport follow_curves
from ..solids.forces cimport add_solid_forces, strain_solids
from .forces cimport subtract_loads, forces, set_forces_on_products, write_world_loads
from .motion cimport inertia_products, mean_shapes, momenta, node_arms, vectors
from .rolling cimport add_gap
from .slips cimport set_slip_forces

cdef void set_predicted_mean_stresses(Memory* m, double h) noexcept nogil
cdef void predict_body_stresses(Memory* m, double h) noexcept nogil
cdef void _strain_rates(Memory* m, Vec rows, Vec rates) noexcept nogil
cdef void stress_rates(Memory* m) noexcept nogil
cdef void turn_strain_rows(AnyMemory* m, Number factor, Vec u, AnyVec rows) noexcept nogil
cdef void write_elastic_stresses(Memory* m, Vec strains, Vec stresses) noexcept nogil
cdef void add_stresses_and_damping(Memory* m, double h) noexcept nogil
cdef void _add_damping(Memory* m, double h) noexcept nogil
cdef void move_and_strain(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void connect(Memory* m, Py_ssize_t dim, int contact, Given given) noexcept nogil
cdef void residual(Memory* m, Py_ssize_t dim, int decay, int contact, Given given) noexcept nogil
cdef void balance_momenta(Memory* m, Py_ssize_t dim, int decay, int contact, double h) noexcept nogil
cdef void trial(Memory* m, Py_ssize_t dim, int decay, int contact, Given given) noexcept nogil
cdef void _set_gap_defects(Memory* m, Vec after, Vec offset) noexcept nogil
cdef void move(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _turn_in_the_plane(Memory* m, double h, Py_ssize_t b) noexcept nogil
cdef void _turn_in_space(Memory* m, double h, Py_ssize_t b) noexcept nogil
cdef void turn_products(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _set_stresses(Memory* m, double h) noexcept nogil
cdef void balance(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef double _turning_torque(Memory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t i) noexcept nogil
cdef double _inertial_force(Memory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t i) noexcept nogil
