from libc.math cimport isfinite
from ...numerics.loops.views cimport copy, fill, get, larger, put
from .answers cimport (
    coupling_at, answer_feedback, answer_linear, held_feedback_at, called, copy_rows, feedback_at, read, size_of,
)
from .data cimport Coupling
from .elimination cimport eliminate
from .laws cimport compute_rates, linearise_laws, meet_laws, store_rates

cdef Py_ssize_t CONVERGED, AGAIN, FAILED, BEGIN, WITHDRAW, CALLED, NEW, NONE, MOST
cdef double CLOSED, SHIFT, SINGULAR, STAGNATED, INFINITE
cdef void _set_inputs(Coupling* a) noexcept nogil
cdef void _guess(Coupling* a) noexcept nogil
cdef void _measure_effect(Coupling* a, double h) noexcept nogil
cdef void _update_jacobian(Coupling* a) noexcept nogil
cdef void _begin_trials(Coupling* a) noexcept nogil
cdef void _begin(Coupling* a) noexcept nogil
cdef void _withdraw(Coupling* a) noexcept nogil
cdef void _commit(Coupling* a, Py_ssize_t step) noexcept nogil
cdef Py_ssize_t _iterate(Coupling* a, Py_ssize_t step, double h) noexcept nogil
cdef Py_ssize_t call_feedback(Py_ssize_t step, Py_ssize_t data) noexcept nogil
cdef Py_ssize_t iterate(Py_ssize_t data, Py_ssize_t step) noexcept nogil
