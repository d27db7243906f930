from ...numerics.loops.views cimport Mat, Vec, copy, fill, larger, part, smaller
from .coupled cimport CHANGE
from .coupled cimport POINT
from .coupled cimport RATES
from .coupled cimport TRIED
from .coupled cimport rates_of, solve_steps
from .interior cimport ASTRAY
from .interior cimport CHANGE as CHANGED
from .interior cimport FACTOR
from .interior cimport NEAR
from .interior cimport POLISHED
from .interior cimport SHORT
from .interior cimport SLACK
from .interior cimport STEPS
from .interior cimport WANTED
from .interior cimport WAY
from .newton cimport SOLVED
from .newton_coupled cimport newton_coupled
from .problem cimport Chain, Coupled
from libc.math cimport INFINITY, fabs

cdef double LEAST
cdef double MISSED
cdef double ENDED
cdef double NEARER

cdef Py_ssize_t _pairs_of(Coupled& p, Py_ssize_t k) noexcept nogil
cdef Py_ssize_t _first(Coupled& p, Py_ssize_t k, bint held) noexcept nogil
cdef void _set_start(Coupled& p, Vec x, Mat s) noexcept nogil
cdef double _mean(Coupled& p, bint held, double share, Mat s) noexcept nogil
cdef double _longest(Coupled& p, bint held, Mat s) noexcept nogil
cdef double _normal(Coupled& p, Py_ssize_t k, bint held, Chain& chain) noexcept nogil
cdef double _rate_error(Coupled& p, bint held, Chain& chain) noexcept nogil
cdef bint _set_step(Coupled& p, bint held, Chain& chain) noexcept nogil
cdef void _follow_pairs(Coupled& p, bint held, Chain& chain) noexcept nogil
cdef void _set_targets(Coupled& p, bint held, double product, double centre, Mat s) noexcept nogil
cdef double interior_coupled(Coupled& p, Vec x, double weight, bint held, Chain& chain) noexcept nogil
