from ....numerics.algebra.dense cimport factor as factor_dense, solve as solve_dense
from ....numerics.loops.recorded cimport doubt, forget_programs, push, push_sizes
from ....numerics.loops.views cimport Mat, Vec, copy, fill
from ..memory.given cimport given_of
from ..memory.memory cimport Memory
from ..memory.recorded cimport RecordedMemory
from ..steps.newton cimport solve_step
from .forward cimport Forward
from .sweeps cimport largest_absolute, row_of, set_program, keep_largest

cdef Py_ssize_t CORRECTIONS
cdef double SETTLED
cdef double UNRELIABLE
cdef double ROUNDED
cdef double DIVERGED

cdef Py_ssize_t go_forward(Memory* m, RecordedMemory* r, Py_ssize_t dim, Forward f, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef bint _step_forward(Memory* m, RecordedMemory* r, Py_ssize_t dim, Forward f, Py_ssize_t k) noexcept nogil
cdef void _set_inputs(Forward f, Py_ssize_t k, Py_ssize_t j) noexcept nogil
cdef Py_ssize_t _set(Vec out, Py_ssize_t first, Vec row) noexcept nogil
cdef double _advance(Memory* m, Forward f, Vec end) noexcept nogil
cdef bint _is_round_off(Memory* m, Forward f, double left) noexcept nogil
cdef bint _correct(Memory* m, Py_ssize_t dim, Forward f, double h, Vec end) noexcept nogil
cdef bint _solve(Memory* m, Forward f, Vec end) noexcept nogil
