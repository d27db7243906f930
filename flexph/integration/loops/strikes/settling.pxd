from ....contacts.loops.island_space cimport Island, LawSpace
from ....contacts.loops.newton cimport TINY
from ....numerics.loops.views cimport copy, larger, smaller
from ..contact.gaps cimport gap_of
from ..memory.memory cimport Memory
from ..memory.striking cimport Striking
from ..steps.iterate cimport coordinate_size
from ..memory.structures cimport Given
from .bearings cimport scale_pressing, is_bearing, bearings_begin_to_stick, mark_bearings, rate_at_end
from .bodies cimport are_apart, set_inverse_masses
from .coupled cimport factor_at
from .islands cimport diagonal_response, find_islands, law_defect
from .law cimport prepare
from .marks cimport CLOSES
from .marks cimport OPEN
from .marks cimport may_close
from .newton_law cimport ROUGH
from .newton_law cimport begin_impulses, end_impulses, solve_near, add_impulse_changes, scale_of
from .pressing cimport move_rates
from .records cimport record_defect, largest_defect, record_impulses, record_loss, record_surface, friction_impulse
from .rows cimport set_free_response, set_rows_at_end, rate, rate_after, set_levers
from libc.math cimport sqrt
from ..steps.rows cimport refuse

cdef Py_ssize_t LAWLESS

cdef double OBEYED
cdef Py_ssize_t BALANCE
cdef Py_ssize_t KNOWN
cdef Py_ssize_t RUBBED
cdef Py_ssize_t SETTLED
cdef double TOUCHING

cdef Py_ssize_t settle(Memory* m, Py_ssize_t dim, Striking& s, Given given) noexcept nogil
cdef Py_ssize_t _settle(Memory* m, Py_ssize_t dim, Striking& s, Given given, Py_ssize_t islands) noexcept nogil
cdef bint _obeys(Memory* m, Py_ssize_t dim, Py_ssize_t first, Py_ssize_t last, double scale) noexcept nogil
cdef bint _settle_island(Memory* m, Py_ssize_t dim, Striking& s, Island& island) noexcept nogil
cdef void _limit_energy(Memory* m, Striking& s, Island& island, double taken) noexcept nogil
cdef void _record(Memory* m, Py_ssize_t dim, LawSpace& law, Island& island) noexcept nogil
cdef bint settle_part(Memory* m, Py_ssize_t dim, Striking& s, Given given, Py_ssize_t iterations) noexcept nogil
