from ..terms.masses cimport set_changing_values
from ..memory.memory cimport Memory
from ..memory.striking cimport Striking
from ..steps.calls cimport begin_within, add_held_inputs, is_repeated
from ..steps.iterate cimport coordinate_size
from ..steps.rows cimport begin_row, close_row, refuse
from ..memory.given cimport given_of
from ..strikes.impacts cimport largest_rate, solve_impacts
from ..strikes.marks cimport CLOSES
from ..strikes.marks cimport OPEN
from ..strikes.records cimport record_part
from ..strikes.settling cimport settle_part
from ..memory.structures cimport Course, Prescribed, Table
from .by_events cimport step_by_events
from ..memory.striking cimport Striking
from .part_steps cimport begin_iterate, close_all_marked

from libc.math cimport fabs

cdef double UNBALANCED
cdef double REACH
cdef Py_ssize_t BALANCE
cdef Py_ssize_t KNOWN
cdef Py_ssize_t LAWLESS
cdef Py_ssize_t MISSED
cdef Py_ssize_t SCALE
cdef double TOUCHING

cdef void run_strikes(Memory* m, Py_ssize_t dim, Striking striking, Table table, Course course) noexcept nogil
cdef bint _step(Memory* m, Py_ssize_t dim, Striking striking, Table table, Py_ssize_t k) noexcept nogil
cdef bint _is_balanced(Memory* m) noexcept nogil
cdef bint _step_at_once(Memory* m, Py_ssize_t dim, Striking& s, Prescribed p) noexcept nogil
cdef void _mark(Memory* m, double h, double size) noexcept nogil
