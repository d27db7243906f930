from ...numerics.loops.views cimport Vec, fill, larger, part, smaller, subtract
from .coupled cimport rate_change, add_impulse, add_impulses
from .newton cimport TINY
from .newton cimport rates_at
from .paths cimport AGAINST, ALONG, OPEN, STICKS
from .problem cimport Chain, Cone, Coupled, Space
from libc.math cimport sqrt

cdef void sweep_coupled(Coupled& p, Vec x, Py_ssize_t sweeps, Py_ssize_t most_steady, Chain& s) noexcept nogil
cdef Py_ssize_t _solve_contact(Coupled& p, Py_ssize_t k, Vec x, Chain& s) noexcept nogil
cdef double _trial_impulse(Coupled& p, Py_ssize_t k, Py_ssize_t i, Vec x, Chain& s) noexcept nogil
cdef void _change_impulse(Coupled& p, Py_ssize_t k, Py_ssize_t i, double impulse, Vec x, Chain& s) noexcept nogil
cdef void sweep_dense(Cone& p, Vec x, Py_ssize_t sweeps, Space& space) noexcept nogil
cdef void _set_impulse(Py_ssize_t i, double impulse, Vec x, Space& space) noexcept nogil
