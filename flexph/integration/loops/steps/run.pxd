from ....numerics.loops.views cimport IVec, fewest
from ..contact.forces cimport store_contacts
from ..terms.paths cimport place_points
from ..mechanics.ledger_rows cimport energies
from ..mechanics.motion cimport derive
from ..memory.memory cimport Memory
from ..memory.structures cimport Calls, Parts, Rows, Table
from .calls cimport begin_within, hold, is_to_be_tried
from .controlled cimport is_controlled
from .rows cimport begin_row, close_row
from .step cimport take_step

cdef void run(Memory* m, Py_ssize_t dim, Table table, Parts parts, Py_ssize_t save_every, Py_ssize_t count, Py_ssize_t known, Calls calls, Rows rows, IVec solved) noexcept nogil
cdef void settle(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void settle_contacts(Memory* m, Py_ssize_t dim) noexcept nogil
