from ....numerics.algebra.dense cimport factor, solve
from ....numerics.loops.views cimport copy, fill, larger
from ..memory.memory cimport Memory
from ..terms.spring_laws cimport factor_at
from libc.math cimport INFINITY, fabs, isfinite, sqrt

cdef Py_ssize_t TRIES
cdef Py_ssize_t STEPS
cdef Py_ssize_t SWEEPS
cdef double WEIGHT
cdef double LEAST
cdef Py_ssize_t FRICTIONS
cdef double SOLVED
cdef double EXACT

cdef double solve_law(Memory* m) noexcept nogil
cdef double coefficient(Memory* m, Py_ssize_t i) noexcept nogil
cdef double evaluate_law(Memory* m) noexcept nogil
cdef void _set_rates(Memory* m) noexcept nogil
cdef double _step_length(Memory* m, Py_ssize_t i) noexcept nogil
cdef double _trial_size(Memory* m, Py_ssize_t i, double step) noexcept nogil
cdef void _fill_slope(Memory* m, Py_ssize_t i, Py_ssize_t q, double step, double bound, double size) noexcept nogil
cdef void _sweep(Memory* m) noexcept nogil
