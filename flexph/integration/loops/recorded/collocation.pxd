from ....numerics.loops.recorded cimport RVec, begin_record, doubt, end_record, flat, give, give_one, give_some, operations, run_new_program, run_program, want
from ....numerics.loops.views cimport Mat, Vec, copy
from ..gauss.momenta_recorded cimport balance as record_balance
from ..gauss.positions_recorded cimport set_positions as record_positions
from ..gauss.steps cimport advance, solve_nodes
from ..gauss.steps_recorded cimport advance as record_advance, begin_step as record_begin
from ..mechanics.motion cimport derive
from ..mechanics.motion_recorded cimport derive as record_derive
from ..memory.memory cimport Memory
from ..memory.recorded cimport RecordedMemory, recorded
from .nodes cimport Collocated, RecordedScheme
from .sweeps cimport AFTER, BEFORE, CONSTANTS, LENGTH, SPACE, add_entries, keep_largest, largest_absolute, set_cells, solve_back

cdef Py_ssize_t go_back_by_nodes(Memory* m, RecordedMemory* r, Py_ssize_t dim, Collocated& c, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef bint _step_back(Memory* m, RecordedMemory* r, Py_ssize_t dim, Collocated& c, Py_ssize_t k) noexcept nogil
cdef void _add_by_times(Collocated& c, Py_ssize_t k, Py_ssize_t entry) noexcept nogil
cdef bint _set_program(Memory* m, RecordedMemory* r, Py_ssize_t dim, Collocated& c, Py_ssize_t k, double h) noexcept nogil
cdef void _record(RecordedMemory* r, Py_ssize_t dim, Collocated& c, Vec given, double h) noexcept nogil
cdef Py_ssize_t _mark_unknowns(RecordedScheme& g, Py_ssize_t first) noexcept nogil
cdef void _collect_defects(RecordedScheme& g, RVec out) noexcept nogil
