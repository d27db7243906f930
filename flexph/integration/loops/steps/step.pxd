from ....numerics.loops.views cimport Vec, copy, smaller_int, fill, larger
from ..contact.anchors cimport has_no_row
from ..contact.flight cimport turns_beyond_stop
from ..contact.forces cimport add_surface_outputs, leaves_list, record_contacts, store_contacts
from ..decay.step cimport prepare
from ..mechanics.arrow cimport solve_border
from ..mechanics.curves cimport add_curve_gaps
from ..terms.paths cimport place_points
from ..mechanics.ledger_rows cimport energies, flows, numerical_loss, outputs, velocity_defect
from ..terms.masses cimport set_changing_values, set_changing_masses
from ..mechanics.motion cimport derive_momenta
from ..mechanics.redundancy cimport find_dependent, keep_independent, keep_least, solve_least
from ..mechanics.relations cimport generates_energy
from ..mechanics.rolling cimport add_squares
from ..memory.memory cimport Memory
from ..memory.structures cimport Course, Given, Kinds, Parts, Table
from .calls cimport begin_within, is_repeated
from .rows cimport refuse
from .friction cimport obeys_law, record_friction, begins_to_stick
from ..memory.given cimport given_of
from .history cimport guess, remember
from .impulse cimport lose_defect
from .newton cimport factor_step, newton
from .pairs cimport begin_pair, estimate, store_gaps, release_contacts, reflect_defect, update_largest_energy
from .rows cimport record_energy
from .search cimport search
from .settling cimport settle
from libc.math cimport fabs

cdef Py_ssize_t CROWDED_TABLE
cdef Py_ssize_t DOUBTFUL
cdef Py_ssize_t GENERATING
cdef Py_ssize_t LAWLESS
cdef Py_ssize_t TURNED

cdef bint take_step(Memory* m, Py_ssize_t dim, Table table, Course course, Py_ssize_t step, Py_ssize_t known) noexcept nogil
cdef bint _end_substep(Memory* m, Py_ssize_t dim, Parts parts, Table table, Py_ssize_t k, Py_ssize_t first) noexcept nogil
cdef bint _estimate_error(Memory* m, Py_ssize_t dim, Parts parts, Given given, Py_ssize_t known) noexcept nogil
cdef bint _finish_pair(Memory* m, Py_ssize_t dim, Parts parts, Table table, Py_ssize_t step) noexcept nogil
cdef bint take_substep(Memory* m, Py_ssize_t dim, Parts parts, Table table, Py_ssize_t k, Py_ssize_t known) noexcept nogil
cdef Py_ssize_t _solve(Memory* m, Py_ssize_t dim, Kinds kinds, Given given, Py_ssize_t known) noexcept nogil
cdef void _guess_again(Memory* m, Py_ssize_t dim, Kinds kinds, Given given, Py_ssize_t known) noexcept nogil
cdef void _record(Memory* m, Py_ssize_t dim, Parts parts, Given given, Py_ssize_t i) noexcept nogil
cdef void _begin_next(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void record_gaps(Memory* m, double h, Vec after, Vec offset) noexcept nogil
cdef void close_gaps(Memory* m, int redundant) noexcept nogil
