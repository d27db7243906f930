from ....numerics.loops.views cimport Vec, copy, fill, larger
from ..decay.step cimport add_damping_stresses
from ..memory.memory cimport Memory
from ..memory.structures cimport Deformed, Momenta
from .curves cimport add_curve_outputs, add_curve_rates, rate_curves, record_curves
from ..terms.hysteresis cimport follow_path, path_energy
from ..terms.spring_laws cimport last_factor, law_value, work_of_factor
from ..terms.paths cimport set_curves_at_rest
from ..nodal.flow cimport add_flow_energies, add_flow_works
from ..nodal.forces cimport add_line_energies, add_work_of_schedules
from ..solids.faces cimport face_output
from ..solids.forces cimport add_law_energies
from ..terms.masses cimport add_works_of_masses
from .motion cimport call_large_products, mean_speeds, momenta, node_speeds, product_rate
from .relations cimport force
from .rolling cimport term_increment, world_spin
from .slips cimport record_slips

cdef void energies(Memory* m, Py_ssize_t dim, Vec out) noexcept nogil
cdef void flows(Memory* m, Py_ssize_t dim, double h, Vec before, Vec after) noexcept nogil
cdef void _torque_work(Memory* m, Py_ssize_t dim, double h, Vec out) noexcept nogil
cdef double _section_spin(Memory* m, Py_ssize_t dim, Py_ssize_t e) noexcept nogil
cdef void _dissipation(Memory* m, double h, Vec out) noexcept nogil
cdef void velocity_defect(Memory* m, Py_ssize_t dim, Vec coefficient, Vec coefficient_rate, Vec offset_rate) noexcept nogil
cdef void outputs(Memory* m, Py_ssize_t dim) noexcept nogil
cdef double numerical_loss(Memory* m, Py_ssize_t dim) noexcept nogil
