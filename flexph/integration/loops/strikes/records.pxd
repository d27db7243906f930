from ....numerics.loops.views cimport Vec, copy, smaller_int, fill, larger
from ..contact.anchors cimport has_no_row
from ..contact.flight cimport turns_beyond_stop
from ..contact.forces cimport leaves_list, record_contacts, store_contacts
from ..terms.paths cimport place_points
from ..mechanics.ledger_rows cimport energies, flows, outputs, velocity_defect
from ..terms.masses cimport set_changing_masses
from ..mechanics.motion cimport derive_momenta
from ..mechanics.relations cimport generates_energy
from ..memory.memory cimport Memory
from ..steps.history cimport remember
from ..steps.rows cimport record_energy
from ..steps.step cimport close_gaps, record_gaps
from ..memory.structures cimport Given
from .bearings cimport record_bearings
from .bodies cimport are_apart
from .marks cimport may_close
from libc.math cimport fabs, sqrt
from ..steps.rows cimport refuse

cdef Py_ssize_t CROWDED_TABLE
cdef Py_ssize_t GENERATING
cdef Py_ssize_t TURNED

cdef Py_ssize_t ARRIVAL
cdef Py_ssize_t BALANCE
cdef Py_ssize_t CLOSED
cdef Py_ssize_t FRICTION
cdef Py_ssize_t KNOWN
cdef Py_ssize_t MISSED
cdef Py_ssize_t NORMAL
cdef Py_ssize_t RUBBED
cdef Py_ssize_t SCALE
cdef Py_ssize_t TOLD

cdef void begin_part(Memory* m) noexcept nogil
cdef void end_part(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void set_velocity_defect(Memory* m, Py_ssize_t dim, Vec coefficient, Given given) noexcept nogil
cdef void record_defect(Memory* m, double missed, double scale) noexcept nogil
cdef double largest_defect(Memory* m) noexcept nogil
cdef double friction_impulse(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef void record_impulses(Memory* m, Py_ssize_t c, double normal, double friction, bint strikes) noexcept nogil
cdef void record_surface(Memory* m, Py_ssize_t c, Py_ssize_t r, double impulse) noexcept nogil
cdef void record_loss(Memory* m, Py_ssize_t c, Py_ssize_t kind, double lost) noexcept nogil
cdef bint record_part(Memory* m, Py_ssize_t dim, int kinds, Given given, double share, bint alone) noexcept nogil
cdef void _record(Memory* m, Py_ssize_t dim, int kinds, Given given, double share, bint alone) noexcept nogil
cdef void _record_contacts(Memory* m, Py_ssize_t dim) noexcept nogil
