from ....numerics.loops.recorded cimport RVec, begin_record, doubt, end_record, give, give_one, give_some, operations, pull, run_new_program, run_program, want
from ....numerics.loops.views cimport IVec, Mat, Vec, copy, fill
from ..memory.memory cimport Memory
from ..memory.recorded cimport RecordedMemory
from ..memory.structures cimport Given, Kinds
from .backward cimport Backward
from .nodes cimport RecordedGiven
from .transposed cimport solve_transposed
from ..friction.sliding cimport slide
from ..friction.sliding_recorded cimport slide as record_slide
from ..mechanics.residual_recorded cimport residual as record_residual
from ..steps.newton cimport begin, evaluate, factor_step, solve_step
from ..steps.newton_recorded cimport begin as record_begin
from ..steps.run cimport settle
from ..steps.run_recorded cimport settle as record_settle
from ..terms.masses cimport set_changing_masses
from ..terms.masses_recorded cimport set_changing_masses as record_changing_masses
from ..memory.given cimport given_of
from ....numerics.algebra.dense cimport factor as factor_dense, solve as solve_dense

cdef Py_ssize_t CORRECTIONS
cdef Py_ssize_t STALE
cdef double SETTLED
cdef double ROUNDED
cdef double DIVERGED
cdef double RENEWED
cdef Py_ssize_t ENDS
cdef Py_ssize_t DEFECTS
cdef Py_ssize_t ALL
cdef Py_ssize_t ARROW
cdef Py_ssize_t NOTHING
cdef Py_ssize_t DENSE
cdef Py_ssize_t SPACE
cdef Py_ssize_t BEFORE
cdef Py_ssize_t AFTER
cdef Py_ssize_t OFFSET
cdef Py_ssize_t INPUTS
cdef Py_ssize_t CONSTANTS
cdef Py_ssize_t LENGTH

cdef Py_ssize_t go_back(Memory* m, RecordedMemory* r, Py_ssize_t dim, Backward& b, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef Py_ssize_t _step_back(Memory* m, RecordedMemory* r, Py_ssize_t dim, Backward& b, Py_ssize_t k) noexcept nogil
cdef bint solve_back(Memory* m, Py_ssize_t dim, Backward& b, Py_ssize_t k, double h) noexcept nogil
cdef void set_program(Memory* m, RecordedMemory* r, Py_ssize_t dim, Backward& b, Py_ssize_t k, Given given) noexcept nogil
cdef void _factor_at_solution(Memory* m, Py_ssize_t dim, Backward& b, Py_ssize_t k, Given given) noexcept nogil
cdef bint _correct(Memory* m, Py_ssize_t dim, Backward& b, Py_ssize_t k, double h) noexcept nogil
cdef double _set_residual(Memory* m, Backward& b, Py_ssize_t k) noexcept nogil
cdef bint _solve(Memory* m, Backward& b, Py_ssize_t k) noexcept nogil
cdef void _record(RecordedMemory* r, Py_ssize_t dim, Backward& b, Given given) noexcept nogil
cdef Vec row_of(Mat rows, Py_ssize_t k) noexcept nogil
cdef Py_ssize_t add_entries(Vec adjoint, Py_ssize_t first, Vec out) noexcept nogil
cdef double largest_absolute(Vec values) noexcept nogil
cdef void keep_largest(Vec audit, Py_ssize_t i, double value) noexcept nogil
cdef void set_cells(RVec cells, Vec row) noexcept nogil
