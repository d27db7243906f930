from ....kernels.convergence.rules cimport is_slow, settled_at, settles, stagnates, unresolved_energy
from ....numerics.loops.views cimport copy, fill, larger
from ..contact.forces cimport begin_contacts
from ..friction.rows cimport set_force_responses
from ..mechanics.arrow cimport factor, solve
from ..terms.paths cimport leaves_curves
from ..terms.ropes cimport leaves_sheaves
from ..mechanics.redundancy cimport factor as factor_least, keep_independent, solve as solve_least
from ..mechanics.relations cimport store_extensions, mark_sticking
from ..mechanics.residual cimport residual, predict_body_stresses, set_predicted_mean_stresses, trial
from ..mechanics.rolling cimport has_fallen
from ..memory.memory cimport Memory
from ..memory.structures cimport Given, Kinds
from ..nodal.forces cimport begin_strains, predict_stresses
from ..solids.forces cimport begin_solids, predict_solid_stresses
from .rows cimport fail
from .friction cimport begin_friction, correct_friction
from .iterate cimport below_resolution, coordinate_size, energy_scale, is_balanced, is_open, kinetic_energy, take_increments, correction_work
from .pile cimport solve_pile
from libc.math cimport INFINITY, isfinite, sqrt

cdef Py_ssize_t DIVERGED
cdef Py_ssize_t LAWLESS
cdef Py_ssize_t OPENED
cdef Py_ssize_t SINGULAR
cdef Py_ssize_t UNSETTLED

cdef double NEWTON_BETTER
cdef double NEWTON_CLOSED
cdef double NEWTON_COARSE
cdef Py_ssize_t NEWTON_ITERATIONS
cdef double NEWTON_MANY
cdef double NEWTON_MIXED
cdef double NEWTON_NOISE
cdef double NEWTON_SLOW
cdef double NEWTON_STAGNATED

cdef Py_ssize_t newton(Memory* m, Py_ssize_t dim, Kinds kinds, Given given, bint ahead) noexcept nogil
cdef void begin(Memory* m, Py_ssize_t dim, Kinds kinds) noexcept nogil
cdef double _best(Memory* m, double size, double best) noexcept nogil
cdef bint relation_changes(Memory* m, Py_ssize_t dim, Kinds kinds, Given given) noexcept nogil
cdef bint is_admissible(Memory* m, Py_ssize_t dim, Kinds kinds, Given given) noexcept nogil
cdef void _try(Memory* m, Py_ssize_t dim, Kinds kinds, Given given) noexcept nogil
cdef void evaluate(Memory* m, Py_ssize_t dim, Kinds kinds, Given given) noexcept nogil
cdef void _keep_independent(Memory* m, Kinds kinds) noexcept nogil
cdef bint factor_step(Memory* m, Py_ssize_t dim, Kinds kinds, Given given) noexcept nogil
cdef void solve_step(Memory* m, Py_ssize_t dim, Kinds kinds, double h) noexcept nogil
cdef void _correct(Memory* m) noexcept nogil
