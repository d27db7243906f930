from ....numerics.loops.views cimport copy, entries, fill, larger, put, smaller
from ..friction.law cimport evaluate_law, solve_law
from ..friction.rows cimport slip_change, differentiate_slips, end_rates, set_unit_defects, set_gradients, slip_size
from ..mechanics.arrow cimport expand, reduce, solve_border
from ..mechanics.ledger_rows cimport energies, velocity_defect
from ..mechanics.motion cimport derive_momenta, mean_shapes
from ..mechanics.redundancy cimport solve_least
from ..memory.memory cimport Memory
from ..memory.structures cimport Given
from .friction cimport UNSOLVED
from .friction cimport free_rates
from .impulse cimport INSTANT
from .impulse cimport factor_instant, hold_joints, work_of_joints
from .rows cimport record_energy
from libc.math cimport fabs, sqrt
from .rows cimport refuse

cdef Py_ssize_t DEPENDENT
cdef Py_ssize_t LAWLESS

cdef bint settle(Memory* m, Py_ssize_t dim, int redundant, Given given) noexcept nogil
cdef double _keep_joints(Memory* m, Py_ssize_t dim, int redundant, double h) noexcept nogil
cdef void _answer_impulses(Memory* m, Py_ssize_t dim, int redundant) noexcept nogil
cdef double _largest_share(Memory* m, double taken) noexcept nogil
cdef void _apply_share(Memory* m, Py_ssize_t dim, double share) noexcept nogil
cdef void _record(Memory* m, Py_ssize_t dim, double lost, Given given) noexcept nogil
cdef void _record_joints(Memory* m, Given given) noexcept nogil
