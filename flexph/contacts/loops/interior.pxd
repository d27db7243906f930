from ...numerics.algebra.dense cimport solve
from ...numerics.algebra.elimination cimport factor
from ...numerics.loops.views cimport Mat, Vec, larger, part, smaller
from .newton cimport SOLVED
from .newton cimport add_row, newton, rates_at
from .problem cimport Cone, Space
from libc.math cimport INFINITY, fabs

cdef Py_ssize_t STEPS
cdef Py_ssize_t POLISHED
cdef double NEAR
cdef double ENDED
cdef double MISSED
cdef double ASTRAY
cdef double SHORT
cdef Py_ssize_t FACTOR
cdef Py_ssize_t SLACK
cdef Py_ssize_t WAY
cdef Py_ssize_t CHANGE
cdef Py_ssize_t WANTED

cdef Py_ssize_t _pairs_of(Cone& p, Py_ssize_t k, Py_ssize_t m) noexcept nogil
cdef Py_ssize_t _first(Cone& p, Py_ssize_t k, Py_ssize_t m, bint held) noexcept nogil
cdef void _set_start(Cone& p, Vec x, Space& space) noexcept nogil
cdef double _mean(Cone& p, Py_ssize_t m, bint held, double share, Space& space) noexcept nogil
cdef double _longest(Cone& p, Py_ssize_t m, bint held, Space& space) noexcept nogil
cdef bint _factor(Cone& p, Py_ssize_t count, Py_ssize_t m, bint held, Space& space) noexcept nogil
cdef void _set_step(Cone& p, Py_ssize_t count, Py_ssize_t m, bint held, Space& space) noexcept nogil
cdef double _normal(Cone& p, Py_ssize_t k, Py_ssize_t m, bint held, Space& space) noexcept nogil
cdef double _rate_error(Cone& p, Py_ssize_t m, bint held, Space& space) noexcept nogil
cdef double interior(Cone& p, Vec x, double weight, bint held, Space& space, Mat point) noexcept nogil
cdef Py_ssize_t _list_impulses(Cone& p, Py_ssize_t m, Space& space) noexcept nogil
