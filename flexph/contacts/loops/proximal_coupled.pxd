from ...numerics.loops.views cimport Vec, copy, larger, part, smaller
from .coupled cimport KEPT
from .coupled cimport POINT
from .coupled cimport RATES
from .coupled cimport TRIED
from .coupled cimport rates_of
from .interior_coupled cimport interior_coupled
from .proximal cimport CHANGED, HEAVIEST, HEAVY, LIGHTEST, OBEYED, STEPS, TIMES
from .newton cimport EXACT
from .newton cimport SOLVED
from .newton cimport defect_of
from .newton_coupled cimport newton_coupled
from .paths cimport follow_path
from .problem cimport Chain, Coupled
from .sweeps cimport sweep_coupled
from libc.math cimport fabs

cdef double CLOSE
cdef double LIGHTER
cdef double LIGHT
cdef Py_ssize_t TOGETHER
cdef double BETTER
cdef Py_ssize_t FIRST
cdef Py_ssize_t STEADY
cdef Py_ssize_t SWEEPS
cdef Py_ssize_t ROUNDS
cdef Py_ssize_t PATHS
cdef Py_ssize_t EVENTS
cdef double STIFF
cdef double STIFFER

cdef double _defect_at(Coupled& p, Vec x, Chain& s) noexcept nogil
cdef double _take_proximal_steps(Coupled& p, Vec x, double best, double weight, Chain& s) noexcept nogil
cdef double _solve_with_falling_weights(Coupled& p, Vec x, double best, double weight, Chain& s) noexcept nogil
cdef bint _is_at_rest(Coupled& p, Vec x, Chain& s) noexcept nogil
cdef double _solve_from_inside(Coupled& p, double weight, bint held, Chain& s) noexcept nogil
cdef double _solve_by_paths(Coupled& p, Vec x, double best, Chain& s) noexcept nogil
cdef double _sweep_once(Coupled& p, Vec x, Chain& s) noexcept nogil
cdef double _solve_with_adapted_weights(Coupled& p, Vec x, Chain& s) noexcept nogil
cdef double _solve_by_sweeps(Coupled& p, Vec x, double best, Chain& s) noexcept nogil
cdef double proximal_coupled(Coupled& p, Vec x, double weight, bint rests, Chain& s) noexcept nogil
