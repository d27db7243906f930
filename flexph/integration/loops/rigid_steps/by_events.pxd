from ....numerics.loops.views cimport fill, larger, smaller
from ..contact.gaps cimport gap_of, place_vectors
from ..memory.memory cimport Memory
from ..memory.striking cimport Striking
from ..steps.iterate cimport coordinate_size
from ..strikes.bodies cimport are_apart
from ..strikes.coupled cimport factor_at
from ..strikes.time_data cimport request_data, data_between, is_whole
from ..strikes.impacts cimport RESTING
from ..strikes.impacts cimport largest_rate, find_rates, prepare
from ..strikes.islands cimport rate_size
from ..strikes.marks cimport CLOSES
from ..strikes.marks cimport ENTERS
from ..strikes.marks cimport OPEN
from ..strikes.marks cimport mark_overlaps, may_close
from ..strikes.newton_law cimport solve_impacts_of_islands
from ..strikes.records cimport record_part, set_velocity_defect
from ..strikes.settling cimport settle_part
from ..memory.structures cimport Prescribed
from .closing_time cimport SHORTEST, closing_time
from .part_steps cimport solve_between

cdef Py_ssize_t SPLITS
cdef Py_ssize_t CROWD
cdef Py_ssize_t GROUP
cdef Py_ssize_t AT_TIME
cdef Py_ssize_t CROWDED
cdef Py_ssize_t KNOWN
cdef Py_ssize_t RATES_AT_END
cdef double RESOLUTION
cdef double TOUCHING

cdef bint step_by_events(Memory* m, Py_ssize_t dim, Striking& s, Prescribed p) noexcept nogil
cdef Py_ssize_t _strike_where_closed(Memory* m, Py_ssize_t dim, Striking& s, Prescribed p, double now, double size) noexcept nogil
cdef (double, Py_ssize_t) _go_on(Memory* m, Py_ssize_t dim, Striking& s, Prescribed p, double now, double size) noexcept nogil
cdef Py_ssize_t _find_touching(Memory* m, Py_ssize_t dim, double size) noexcept nogil
cdef Py_ssize_t _touches(Memory* m, Py_ssize_t c, double size) noexcept nogil
cdef bint _closes(Memory* m, Py_ssize_t dim, double length, double size) noexcept nogil
cdef void _mark_closed(Memory* m, double length, double size, bint rests) noexcept nogil
cdef void _close_entered(Memory* m) noexcept nogil
cdef bint _finish_part(Memory* m, Py_ssize_t dim, Striking& s, Prescribed p, (double, double, bint) piece, Py_ssize_t iterations) noexcept nogil
cdef void _look_for_many(Memory* m) noexcept nogil
