from ....numerics.loops.views cimport smaller_int
from ..contact.forces cimport store_contacts
from ..terms.paths cimport place_points
from ..mechanics.ledger_rows cimport energies
from ..terms.masses cimport set_changing_masses
from ..mechanics.motion cimport derive
from ..memory.memory cimport Memory
from ..memory.structures cimport Course, Table
from .calls cimport add_held_inputs
from .controlled cimport is_controlled
from .rows cimport begin_row, close_row
from .step cimport take_step

cdef void run(Memory* m, Py_ssize_t dim, Table table, Course course) noexcept nogil
cdef void settle(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void settle_contacts(Memory* m, Py_ssize_t dim) noexcept nogil
