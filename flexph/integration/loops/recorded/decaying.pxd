from ....numerics.loops.recorded cimport begin_record, doubt, end_record, give, give_one, give_some, operations, run_new_program, run_program, want
from ....numerics.loops.views cimport copy
from ..decay.step cimport prepare
from ..mechanics.ledger_rows cimport velocity_defect
from ..mechanics.motion cimport derive_momenta
from ..memory.given cimport given_of
from ..memory.memory cimport Memory
from ..memory.recorded cimport RecordedMemory
from ..memory.structures cimport Given
from ..steps.impulse cimport factor_instant, solve_impulse
from ..steps.newton cimport newton
from ..steps.newton_recorded cimport begin as record_begin
from ..steps.run cimport settle
from ..steps.run_recorded cimport settle as record_settle
from .decayed cimport Decayed
from .nodes cimport RecordedGiven
from .impulse_steps_recorded cimport set_defects as record_defects
from .sweeps cimport AFTER, BEFORE, CONSTANTS, INPUTS, LENGTH, OFFSET, SPACE, add_entries, keep_largest, largest_absolute, row_of, set_cells, solve_back

cdef Py_ssize_t go_back_decaying(Memory* m, RecordedMemory* r, Py_ssize_t dim, Decayed& d, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef bint _step_back(Memory* m, RecordedMemory* r, Py_ssize_t dim, Decayed& d, Py_ssize_t k) noexcept nogil
cdef bint _set_program(Memory* m, RecordedMemory* r, Py_ssize_t dim, Decayed& d, Py_ssize_t k, Given given) noexcept nogil
cdef bint _solve_step(Memory* m, Py_ssize_t dim, Decayed& d, Py_ssize_t k, Given given) noexcept nogil
cdef void _record(RecordedMemory* r, Py_ssize_t dim, Decayed& d, Py_ssize_t k, Given given) noexcept nogil
