from ...numerics.loops.views cimport Vec, copy, fill, larger, part, smaller
from .coupled cimport CENTRE
from .coupled cimport CHANGE
from .coupled cimport POINT
from .coupled cimport RATES
from .coupled cimport TRIED
from .coupled cimport rate_change, rates_of, solve_steps
from .newton_coupled cimport add_proximal_term
from .problem cimport Chain, Coupled
from libc.math cimport INFINITY, fabs, floor, sin

cdef Py_ssize_t OPEN
cdef Py_ssize_t STICKS
cdef Py_ssize_t ALONG
cdef Py_ssize_t AGAINST
cdef Py_ssize_t CLOSES
cdef Py_ssize_t OPENS
cdef Py_ssize_t STOPS
cdef Py_ssize_t SLIDES
cdef double SPACED

cdef double _random_number(Py_ssize_t k) noexcept nogil
cdef void _set_start(Coupled& p, Vec x, Chain& s) noexcept nogil
cdef void _residual_rates(Coupled& p, Vec x, Vec e, Chain& s) noexcept nogil
cdef double _friction_share(Coupled& p, Py_ssize_t k, Py_ssize_t state) noexcept nogil
cdef bint _conditions(Coupled& p, Vec x, Vec rates, double weight, bint changes, Chain& s) noexcept nogil
cdef double _slack(Coupled& p, Py_ssize_t k, Py_ssize_t kind, double side, Vec x, Vec y) noexcept nogil
cdef (Py_ssize_t, double) _possible_event(Coupled& p, Py_ssize_t k, Py_ssize_t number, Chain& s) noexcept nogil
cdef (double, Py_ssize_t, Py_ssize_t, double) _next(Coupled& p, Vec x, double way, Chain& s) noexcept nogil
cdef void _next_state(Coupled& p, Py_ssize_t k, Py_ssize_t kind, double side, Chain& s) noexcept nogil
cdef double _direction(Coupled& p, Py_ssize_t k, Py_ssize_t kind, double side, Chain& s) noexcept nogil
cdef bint follow_path(Coupled& p, Vec x, double weight, Py_ssize_t most, Chain& s) noexcept nogil
cdef void _change_rates(Coupled& p, Vec e, double weight, Chain& s) noexcept nogil
