from ....contacts.loops.island_space cimport Island
from ....contacts.loops.newton cimport TINY
from ....numerics.loops.views cimport copy, larger, smaller
from ..mechanics.rolling cimport has_fallen
from ..memory.memory cimport Memory
from ..memory.striking cimport Striking
from ..steps.iterate cimport coordinate_size, is_open
from ..memory.structures cimport Given
from .bearings cimport friction_of, is_bearing, size_slips
from .bodies cimport are_apart, set_inverse_jacobians
from .coupled cimport set_responses, begin_coupled, factor_coupled, update_stresses, relations_stick
from .islands cimport rate_change, find_islands, law_defect, add_impulse, rate_size
from .law cimport prepare
from .pressing cimport solve_pressed
from .records cimport record_defect
from .rows cimport set_free_response, fill_rows
from .trial cimport ITERATIONS
from .trial cimport RENEWED
from .trial cimport SETTLED
from .trial cimport STAGNATED
from .trial cimport balance_bodies, correct, evaluate, velocity_scale
from libc.math cimport INFINITY, fabs
from ..steps.rows cimport fail

cdef Py_ssize_t TOO_MANY
cdef Py_ssize_t DOUBTFUL
cdef Py_ssize_t LAWLESS
cdef Py_ssize_t UNSETTLED

cdef Py_ssize_t STALLED
cdef Py_ssize_t POLISHED
cdef double COARSE
cdef double FAST
cdef double WEIGHT
cdef double STIFFER
cdef double STIFFEST
cdef double AFAR
cdef double SOLVED
cdef double LAW
cdef double REDUNDANT
cdef double NEAR
cdef double SLOW
cdef double STEADY
cdef double FURTHEST
cdef Py_ssize_t TRIES
cdef double LIGHTER
cdef double RESTING
cdef Py_ssize_t CLOSED
cdef Py_ssize_t FREE
cdef double POSITIONAL
cdef Py_ssize_t TOLD
cdef double NEWTON_CLOSED

cdef Py_ssize_t solve_closing(Memory* m, Py_ssize_t dim, Striking& s, Given given) noexcept nogil
cdef double _solve_linearised(Memory* m, Py_ssize_t dim, Striking& s, Given given, Py_ssize_t islands, (double, bint, bint) at) noexcept nogil
cdef double _extrapolate(Memory* m, double ratio, double before) noexcept nogil
cdef bint _update_matrices(Memory* m, Py_ssize_t dim, int kinds, Given given) noexcept nogil
cdef bint _is_at_rest(Memory* m, double scale) noexcept nogil
cdef double _solve_laws(Memory* m, Py_ssize_t dim, Striking& s, Py_ssize_t islands, double weight, bint begins) noexcept nogil
cdef double _solve_island(Memory* m, Striking& s, Island& island, double weight, bint rests) noexcept nogil
cdef double _law_defect(Memory* m, Py_ssize_t dim, int kinds, Given given, double scale) noexcept nogil
