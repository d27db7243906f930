from ....contacts.loops.island_space cimport Island, LawSpace
from ....numerics.loops.views cimport Vec, fill, larger, part, smaller
from ..memory.memory cimport Memory
from ..memory.striking cimport Striking
from ..steps.impulse cimport hold_joints, work_of_joints
from ..memory.structures cimport Given
from .bearings cimport begin_slips, scale_pressing, write_slips, is_bearing, mark_bearings, record_struck, size_slips
from .bodies cimport are_apart
from .coupled cimport set_responses
from .islands cimport find_islands, add_impulse, rate_size
from .law cimport prepare
from .marks cimport CLOSES
from .pressing cimport move_rates, solve_pressed
from .records cimport begin_part, end_part, record_defect, record_impulses, record_loss, record_surface, friction_impulse, set_velocity_defect
from .rows cimport rate, rate_after
from libc.math cimport sqrt
from ..steps.rows cimport refuse

cdef Py_ssize_t TOO_MANY
cdef Py_ssize_t LAWLESS

cdef double WEIGHT
cdef double HEAVIER
cdef double HEAVIEST
cdef double SOLVED
cdef double ROUGH
cdef Py_ssize_t IMPACT

cdef bint solve_impacts_of_islands(Memory* m, Py_ssize_t dim, Striking& s, Given given) noexcept nogil
cdef bint begin_impulses(Memory* m, Py_ssize_t dim, int kinds, Py_ssize_t members) noexcept nogil
cdef void end_impulses(Memory* m, Py_ssize_t dim, int kinds, Vec coefficient, Given given, bint settles) noexcept nogil
cdef double scale_of(Memory* m, Py_ssize_t dim, int kinds, Py_ssize_t members) noexcept nogil
cdef void add_changes(Memory* m) noexcept nogil
cdef bint _solve_impact(Memory* m, Py_ssize_t dim, Striking& s, Island& island) noexcept nogil
cdef double solve_near(Memory* m, Striking& s, Island& island) noexcept nogil
cdef void _set_first_rates(Memory* m, LawSpace& law, Island& island, bint elastic) noexcept nogil
cdef double energy_change(LawSpace& law, Py_ssize_t size) noexcept nogil
cdef void _limit_energy(Memory* m, Striking& s, Island& island) noexcept nogil
cdef void add_impulse_changes(Memory* m, LawSpace& law, Island& island) noexcept nogil
cdef void _record(Memory* m, Py_ssize_t dim, LawSpace& law, Island& island) noexcept nogil
