from libc.math cimport isfinite, rint
from ...numerics.loops.views cimport Mat, Vec, call_one, larger
from ...sensors.loops cimport measure
from .data cimport Coupling, HeldFeedback, Feedback, Linear
from .elimination cimport eliminate

ctypedef int (*Function)(double, double*, double*, void*) noexcept nogil

cdef inline Coupling* coupling_at(Py_ssize_t address) noexcept nogil:
    return <Coupling*>address
cdef inline HeldFeedback* held_feedback_at(Py_ssize_t address) noexcept nogil:
    return <HeldFeedback*>address
cdef inline Feedback* feedback_at(Py_ssize_t address) noexcept nogil:
    return <Feedback*>address
cdef inline bint call_function(
    Py_ssize_t address, double time, Vec readings, Vec inputs, Py_ssize_t user_data
) noexcept nogil:
    return (<Function>address)(time, readings.p, inputs.p, <void*>user_data) == 1

cdef double PI
cdef double INFINITE
cdef void copy_rows(Mat source, Mat target, Py_ssize_t rows) noexcept nogil
cdef double size_of(Vec values, Py_ssize_t count) noexcept nogil
cdef bint _solve_linear(Linear& c, double h) noexcept nogil
cdef bint answer_linear(Coupling* a, Py_ssize_t step, double h) noexcept nogil
cdef void read(Feedback* f, Vec state) noexcept nogil
cdef bint called(Feedback* f) noexcept nogil
cdef bint answer_feedback(Coupling* a, Py_ssize_t step) noexcept nogil
