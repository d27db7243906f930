from ....numerics.loops.views cimport Mat, call_one, call_two, copy
from ..memory.memory cimport Memory
from ..memory.structures cimport Calls, Within
from .rows cimport store

cdef Py_ssize_t BEGIN, WITHDRAW

cdef void begin_pair_within(Memory* m, Py_ssize_t dim, Within within) noexcept nogil
cdef void withdraw_within(Within within) noexcept nogil
cdef bint add_held_inputs(Calls calls, Mat inputs, Py_ssize_t step, Py_ssize_t points) noexcept nogil
cdef void begin_within(Memory* m, Within within, Mat inputs, Py_ssize_t step) noexcept nogil
cdef Py_ssize_t evaluate_controllers(Memory* m, Within within, Mat inputs, Py_ssize_t step) noexcept nogil
cdef Py_ssize_t is_repeated(Memory* m, Py_ssize_t dim, Within within, Mat inputs, Py_ssize_t step) noexcept nogil
cdef void _add(Within within, Mat inputs, Py_ssize_t step) noexcept nogil
