from ....numerics.loops.views cimport Vec, larger, smaller
from ..memory.memory cimport Memory
from ..memory.striking cimport Striking
from ..strikes.marks cimport ENTERS
from ..strikes.marks cimport gap_at_end
from ..memory.structures cimport Bracket, Prescribed
from .part_steps cimport solve_between
from libc.math cimport INFINITY, NAN, copysign, fabs, isfinite

cdef double PRECISION
cdef double ROUND_OFF
cdef Py_ssize_t ITERATIONS
cdef double SHORTEST
cdef double TOUCHING

cdef double closing_time(Memory* m, Py_ssize_t dim, Striking& s, Prescribed p, (double, double) ends, double size) noexcept nogil
cdef double _closing_time(Memory* m, Py_ssize_t dim, Striking& s, Prescribed p, double begin, Bracket at) noexcept nogil
cdef (double, double) _next_step(Bracket at, double c, double fc, double last, double step, double limit) noexcept nogil
cdef double _least_gap_after(Memory* m, Py_ssize_t dim, Striking& s, Prescribed p, double begin, double end) noexcept nogil
cdef double _least(Memory* m, Vec gaps) noexcept nogil
