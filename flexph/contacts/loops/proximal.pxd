from ...numerics.loops.views cimport Mat, Vec, larger, part, smaller
from .interior cimport interior
from .newton cimport EXACT
from .newton cimport SOLVED
from .newton cimport defect_of, newton, rates_at
from .pattern cimport find_entries, find_order
from .problem cimport Cone, Space
from .sweeps cimport sweep_dense
from libc.math cimport INFINITY, fabs

cdef double OBEYED
cdef Py_ssize_t TOGETHER
cdef Py_ssize_t STEPS
cdef Py_ssize_t SWEEPS
cdef Py_ssize_t ROUNDS
cdef double HEAVY
cdef double HEAVIEST
cdef double LIGHTEST
cdef Py_ssize_t TIMES
cdef double CHANGED

cdef double _take_proximal_steps(Cone& p, Vec x, double best, double weight, Space& space, Vec tried) noexcept nogil
cdef double solve_proximal(Cone& p, Vec x, double weight, bint rests, Space& space, Mat point) noexcept nogil
cdef double _solve_with_adapted_weights(Cone& p, Vec x, double best, Space& space, Vec tried) noexcept nogil
cdef double _solve_by_sweeps(Cone& p, Vec x, double best, double weight, Space& space, Mat point) noexcept nogil
cdef double _solve_from_inside(Cone& p, double weight, bint held, Space& space, Mat point) noexcept nogil
cdef bint _is_at_rest(Cone& p, Vec x, Space& space) noexcept nogil
