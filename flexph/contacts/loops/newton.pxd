from ...numerics.algebra.dense cimport solve
from ...numerics.algebra.elimination cimport factor
from ...numerics.loops.views cimport Vec, entries, larger, part
from .problem cimport AnyLaws, Cone, Space
from libc.math cimport INFINITY, fabs, sqrt

cdef double TINY
cdef double HUGE
cdef double SOLVED
cdef double EXACT

cdef void rates_at(Cone& p, Vec x, double weight, Vec centre, Vec out) noexcept nogil
cdef double defect_of(AnyLaws p, Vec x, Vec y) noexcept nogil
cdef Py_ssize_t _set_states(Cone& p, Vec x, Vec y, Space& space) noexcept nogil
cdef void _set_friction_state(Cone& p, Py_ssize_t k, Py_ssize_t t, Vec x, Vec y, Space& space) noexcept nogil
cdef double _conditions(Cone& p, Py_ssize_t at, Py_ssize_t c, Vec row, Space& space) noexcept nogil
cdef void _assemble(Cone& p, Py_ssize_t count, double weight, Space& space) noexcept nogil
cdef void add_row(Cone& p, Py_ssize_t at, double gain, Vec row, Space& space) noexcept nogil
cdef bint take_newton_step(Cone& p, Vec x, Vec y, double weight, Space& space) noexcept nogil
cdef double newton(Cone& p, Vec start, double weight, Py_ssize_t steps, Space& space) noexcept nogil
