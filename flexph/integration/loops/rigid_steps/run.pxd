from ....contacts.loops.island_space cimport LawSpace
from ....numerics.loops.views cimport IVec, copy
from ..memory.memory cimport Memory
from ..steps.calls cimport begin_within, hold, is_to_be_tried
from ..steps.iterate cimport coordinate_size
from ..steps.rows cimport begin_row, close_row
from ..strikes.given cimport given_of
from ..strikes.impacts cimport fastest, strike
from ..strikes.marks cimport CLOSES
from ..strikes.marks cimport OPEN
from ..strikes.records cimport record_way
from ..strikes.settling cimport settle_way
from ..memory.structures cimport Between, Calls, Prescribed, Rows, Table
from .by_events cimport step_by_events
from .ways cimport begin_way, close_all

cdef double REACH
cdef Py_ssize_t BALANCE
cdef Py_ssize_t KNOWN
cdef Py_ssize_t MISSED
cdef Py_ssize_t SCALE
cdef double TOUCHING

cdef void run_strikes(Memory* m, Py_ssize_t dim, int kinds, LawSpace law, Py_ssize_t by_events, Table table, Between between, Py_ssize_t save_every, Py_ssize_t count, Py_ssize_t known, Calls calls, Rows rows, IVec solved) noexcept nogil
cdef bint _step(Memory* m, Py_ssize_t dim, int kinds, LawSpace law, Py_ssize_t by_events, Table table, Between between, Py_ssize_t k) noexcept nogil
cdef bint _step_at_once(Memory* m, Py_ssize_t dim, int kinds, LawSpace law, Prescribed p) noexcept nogil
cdef void _mark(Memory* m, double h, double size) noexcept nogil
