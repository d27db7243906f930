from ....numerics.loops.binding cimport bind
from ....numerics.loops.recorded cimport RVec, add_adjoints, adjoints, begin_record, choose, doubt, operations, place, place_some, set_adjoints, sweep, sweep_chosen, weigh, weigh_chosen
from ....numerics.loops.views cimport IVec, Mat, Vec, copy, fill
from ..memory.memory cimport Memory
from ..memory.recorded cimport RecordedMemory
from ..memory.structures cimport Kinds
from .backward cimport Backward
from ..mechanics.residual_recorded cimport residual as record_residual
from ..steps.newton cimport begin, evaluate, factor_step, solve_step
from ..steps.newton_recorded cimport begin as record_begin
from ..steps.run cimport settle
from ..steps.run_recorded cimport settle as record_settle
from ..memory.given cimport given_of
from ....numerics.algebra.dense cimport factor as factor_dense, solve as solve_dense

cdef Py_ssize_t CORRECTIONS
cdef double SETTLED
cdef double ROUNDED
cdef double DIVERGED

cdef Py_ssize_t go_back(Memory* m, RecordedMemory* r, Py_ssize_t dim, Backward b, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef Py_ssize_t _step_back(Memory* m, RecordedMemory* r, Py_ssize_t dim, Backward b, Py_ssize_t k) noexcept nogil
cdef bint _correct(Memory* m, RecordedMemory* r, Py_ssize_t dim, Backward b, double h) noexcept nogil
cdef bint _solve(RecordedMemory* r, Backward b) noexcept nogil
cdef double _miss(RecordedMemory* r, Backward b) noexcept nogil
cdef void _record(Memory* m, RecordedMemory* r, Py_ssize_t dim, Backward b, Py_ssize_t k) noexcept nogil
cdef Vec row_of(Mat rows, Py_ssize_t k) noexcept nogil
cdef Py_ssize_t _add(Vec adjoint, Py_ssize_t first, Vec out) noexcept nogil
cdef Py_ssize_t _place(RVec numbers, Py_ssize_t first) noexcept nogil
cdef void _pull(RecordedMemory* r, Vec by_end, Vec by_defect, Vec out) noexcept nogil
cdef void _pull_unknowns(RecordedMemory* r, Vec by_end, Vec by_defect, Vec out) noexcept nogil
cdef void _precondition(Memory* m, Py_ssize_t dim, Kinds kinds, double h, Vec given) noexcept nogil
cdef double _largest(Vec own) noexcept nogil
cdef void _watch(Vec audit, Py_ssize_t i, double value) noexcept nogil
cdef void _set(RVec cells, Vec row) noexcept nogil
