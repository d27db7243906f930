from ....numerics.loops.views cimport larger
from ..contact.gaps cimport gap_of, place_vectors
from ..mechanics.motion cimport node_speeds
from ..memory.memory cimport Memory
from ..memory.striking cimport Striking
from ..memory.structures cimport Given, Prescribed
from .bodies cimport are_apart, set_inverse_masses
from .coupled cimport factor_at
from .time_data cimport request_data, data_between
from ..memory.given cimport given_of
from .marks cimport CLOSES
from .marks cimport OPEN
from .marks cimport TOUCHES
from .newton_law cimport solve_impacts_of_islands
from .records cimport set_velocity_defect
from .rows cimport set_free_response, set_rows, rate, set_levers
from .trial cimport solve_free
from libc.math cimport fabs

cdef Py_ssize_t STRIKES
cdef double WIDE
cdef double RESTING
cdef Py_ssize_t AT_TIME
cdef Py_ssize_t OVER_PART
cdef double RESOLUTION
cdef double TOUCHING

cdef Py_ssize_t solve_impacts(Memory* m, Py_ssize_t dim, Striking& s, Prescribed p, double size, Py_ssize_t known) noexcept nogil
cdef bint _factor(Memory* m, Py_ssize_t dim, int kinds, Prescribed p) noexcept nogil
cdef Given _at_start(Prescribed p) noexcept nogil
cdef void prepare(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void find_rates(Memory* m) noexcept nogil
cdef double largest_rate(Memory* m) noexcept nogil
cdef bint _may_bounce(Memory* m, double h, double size) noexcept nogil
cdef void _predict_positions(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _predict_displacements(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _mark_closing(Memory* m, Py_ssize_t dim, double h, double size, bint first) noexcept nogil
cdef bint _bounces(Memory* m) noexcept nogil
