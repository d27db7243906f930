from ....numerics.loops.views cimport Vec, fill, larger, part
from ..contact.forces cimport begin_contacts
from ..contact.gaps cimport dot
from ..friction.rows cimport slip_change, differentiate_slips, set_unit_defects
from ..mechanics.arrow cimport eliminate, solve
from ..mechanics.assembly cimport assemble_step
from ..mechanics.redundancy cimport factor_assembled, find_dependent, keep_independent, keep_least, solve as solve_least
from ..mechanics.residual cimport balance_momenta, trial
from ..memory.memory cimport Memory
from ..nodal.forces cimport begin_strains, predict_stresses
from ..solids.forces cimport begin_solids, predict_solid_stresses
from ..steps.rows cimport refuse
from ..steps.impulse cimport INSTANT
from ..steps.impulse cimport factor_instant
from ..steps.newton cimport relation_changes
from ..memory.structures cimport Given, Kinds
from ..terms.border cimport add
from ..terms.nodes cimport differentiate_node
from .bearings cimport friction_of, is_bearing, evaluate_bearings, apply_friction, slip_of
from .rows cimport bending, evaluate_contact, side_velocity
from libc.math cimport fabs

cdef Py_ssize_t DEPENDENT
cdef Py_ssize_t DISTANCE
cdef Py_ssize_t DOUBTFUL

cdef void evaluate_coupled(Memory* m, Py_ssize_t dim, int kinds, Given given) noexcept nogil
cdef bint begin_coupled(Memory* m, Py_ssize_t dim, int kinds, Given given) noexcept nogil
cdef bint begin_joints(Memory* m, Py_ssize_t dim, int kinds, Given given) noexcept nogil
cdef bint relations_stick(Memory* m, Py_ssize_t dim, int kinds, Given given) noexcept nogil
cdef void update_stresses(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef bint factor_coupled(Memory* m, Py_ssize_t dim, int kinds, Given given) noexcept nogil
cdef void _turn_ball(Memory* m, Py_ssize_t dim, Py_ssize_t c, Py_ssize_t k, double h) noexcept nogil
cdef bint factor_at(Memory* m, Py_ssize_t dim, int kinds, Vec coefficient) noexcept nogil
cdef void _solve(Memory* m, Py_ssize_t dim, int kinds, double h) noexcept nogil
cdef void change_coupled(Memory* m, Py_ssize_t dim, int kinds, double h) noexcept nogil
cdef void set_responses(Memory* m, Py_ssize_t dim, int kinds, Py_ssize_t members, double h) noexcept nogil
cdef void _fill_own(Memory* m, Py_ssize_t c) noexcept nogil
cdef void _apply_unit_impulse(Memory* m, Py_ssize_t dim, Py_ssize_t c, Py_ssize_t r) noexcept nogil
cdef void _set_response(Memory* m, Py_ssize_t dim, int kinds, (Py_ssize_t, Py_ssize_t) row, Vec out, double h) noexcept nogil
cdef void _add_velocity(Memory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t a, double act) noexcept nogil
cdef double rate_by_response(Memory* m, Py_ssize_t c, Py_ssize_t r, Vec response) noexcept nogil
cdef void add_coupled_impulse(Memory* m, Py_ssize_t place, double impulse) noexcept nogil
