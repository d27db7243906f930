from libc.math cimport isfinite
from ...numerics.loops.views cimport copy, fill, get, larger, put
from .answers cimport (
    agreement_at, answer_feedback, answer_linear, asked_at, called, copy_rows, feedback_at, read, size_of,
)
from .data cimport Agreement
from .elimination cimport eliminate
from .laws cimport compute_rates, look_along, meet_laws, take_rates

cdef Py_ssize_t AGREED, AGAIN, FAILED, BEGIN, GO_BACK, CALLED, NEW, NONE, MOST
cdef double CLOSED, SHIFT, SINGULAR, STAGNATED, INFINITE
cdef void _set_inputs(Agreement* a) noexcept nogil
cdef void _guess(Agreement* a) noexcept nogil
cdef void _measure_effect(Agreement* a, double h) noexcept nogil
cdef void _update_jacobian(Agreement* a) noexcept nogil
cdef void _begin_trials(Agreement* a) noexcept nogil
cdef void _begin(Agreement* a) noexcept nogil
cdef void _go_back(Agreement* a) noexcept nogil
cdef void _commit(Agreement* a, Py_ssize_t step) noexcept nogil
cdef Py_ssize_t _iterate(Agreement* a, Py_ssize_t step, double h) noexcept nogil
cdef Py_ssize_t ask(Py_ssize_t step, Py_ssize_t data) noexcept nogil
cdef Py_ssize_t agree(Py_ssize_t data, Py_ssize_t step) noexcept nogil
