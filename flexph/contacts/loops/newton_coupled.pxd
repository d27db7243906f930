from ...numerics.loops.views cimport Vec, fill, larger, part
from .coupled cimport BEST
from .coupled cimport CENTRE
from .coupled cimport CHANGE
from .coupled cimport RATES
from .coupled cimport X
from .coupled cimport rates_of, solve_steps
from .newton cimport EXACT
from .newton cimport HUGE
from .newton cimport SOLVED
from .newton cimport defect_of
from .problem cimport Chain, Coupled
from libc.math cimport INFINITY, fabs, sqrt

cdef bint newton_step(Coupled& p, Vec x, Vec y, double weight, Chain& s) noexcept nogil
cdef void _set_friction(Coupled& p, Py_ssize_t k, Vec x, Vec y, double weight, Chain& s) noexcept nogil
cdef void add_proximal_term(Coupled& p, Vec x, double weight, Chain& s) noexcept nogil
cdef double newton_coupled(Coupled& p, Vec start, double weight, Py_ssize_t steps, Chain& s) noexcept nogil
