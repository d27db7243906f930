from ....numerics.loops.views cimport Mat, Vec, copy, fill, flat, larger
from ..mechanics.ledger_rows cimport energies, flows, velocity_defect
from ..mechanics.motion cimport derive
from ..mechanics.rolling cimport add_squares, world_spin
from ..memory.memory cimport Memory
from ..memory.memory cimport stage
from ..steps.calls cimport evaluate_controllers, begin_within, add_held_inputs
from ..steps.iterate cimport reference_length
from ..steps.rows cimport begin_row, close_row, record_energy, store
from ..terms.ropes cimport leaves_sheaves
from ..memory.structures cimport AtNodes, Course, GaussTable, Within
from .damped cimport solve_damped
from .history cimport guess, remember
from .momenta cimport begin, constraint_rates
from .newton cimport newton
from .nodes cimport add_field, row_of
from .scheme cimport Scheme
from .springs cimport add_works_of_factors, set_prescribed_rates
from libc.math cimport fabs
from ..steps.rows cimport refuse

cdef Py_ssize_t OPENED

cdef double NEWTON_CLOSED
cdef double NEWTON_FORGOTTEN

cdef void run_gauss(Memory* m, Py_ssize_t dim, Scheme& g, GaussTable table, Course course) noexcept nogil
cdef void _run(Memory* m, Py_ssize_t dim, Scheme& g, GaussTable table, Course course) noexcept nogil
cdef Py_ssize_t _is_to_be_tried(Memory* m, Py_ssize_t dim, Scheme& g, Within within, Mat inputs, Py_ssize_t step) noexcept nogil
cdef bint _step(Memory* m, Py_ssize_t dim, Scheme& g, GaussTable table, Py_ssize_t k, Py_ssize_t known) noexcept nogil
cdef AtNodes at_nodes(GaussTable table, Py_ssize_t first) noexcept nogil
cdef Py_ssize_t solve_nodes(Memory* m, Py_ssize_t dim, Scheme& g, GaussTable table, Py_ssize_t k, Py_ssize_t known) noexcept nogil
cdef void begin_step(Memory* m, Py_ssize_t dim, Scheme& g, Vec coefficient, Vec offset, AtNodes given) noexcept nogil
cdef void gaps(Memory* m, Vec coefficient, Vec offset) noexcept nogil
cdef void advance(Memory* m, Py_ssize_t dim, Scheme& g, double h) noexcept nogil
cdef void _add_increments(Memory* m, Scheme& g, double h) noexcept nogil
cdef void _advance_rotation(Memory* m, Py_ssize_t dim, Scheme& g, double h, Py_ssize_t b) noexcept nogil
cdef void _orthogonalise(Memory* m, Py_ssize_t dim, Py_ssize_t b) noexcept nogil
cdef bint _is_open(Memory* m) noexcept nogil
cdef bint _has_fallen(Memory* m) noexcept nogil
cdef void _record_step(Memory* m, Py_ssize_t dim, Scheme& g, double h, AtNodes given) noexcept nogil
