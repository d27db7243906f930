from ....numerics.loops.views cimport Vec, copy, entries, fill, get, larger, put
from ..mechanics.arrow cimport eliminate, expand, reduce, solve_border
from ..mechanics.couplings cimport add_constraints, add_ends, add_rolling, differentiate_vectors
from ..mechanics.curves cimport add_curves
from ..terms.paths cimport set_curves_at_rest
from ..mechanics.jacobian cimport add_flexible, add_rigid, turn_bodies
from ..mechanics.ledger_rows cimport energies, velocity_defect
from ..mechanics.motion cimport derive_momenta
from ..mechanics.redundancy cimport factor_assembled, keep_independent, solve_least
from ..memory.memory cimport Memory
from ..memory.structures cimport Given
from .rows cimport record_energy
from libc.math cimport fabs
from .rows cimport refuse

cdef Py_ssize_t DEPENDENT

cdef double INSTANT

cdef bint factor_instant(Memory* m, Py_ssize_t dim, int redundant, Vec coefficient) noexcept nogil
cdef void _reset_trial(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void solve_impulse(Memory* m, Py_ssize_t dim, int redundant, Vec defect, Vec mu) noexcept nogil
cdef double hold_joints(Memory* m, Py_ssize_t dim, int redundant, Vec mu) noexcept nogil
cdef void work_of_joints(Memory* m, Vec impulse, double share, Vec coefficient_rate, Vec offset_rate) noexcept nogil
cdef void subtract_impulse(Memory* m, Py_ssize_t dim, Given given, Vec mu, double share, double length) noexcept nogil
cdef bint lose_defect(Memory* m, Py_ssize_t dim, int redundant, Given given, double length) noexcept nogil
