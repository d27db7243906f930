from ....kernels.convergence.rules cimport is_slow, settled_at, settles, stagnates
from ....numerics.loops.views cimport smaller_int, larger, smaller
from ..memory.memory cimport Memory
from ..memory.memory cimport stage
from ..memory.structures cimport AtNodes
from .acceleration cimport accelerate
from .momenta cimport balance, is_balanced
from .positions cimport set_positions
from .nodes cimport row_of
from .scheme cimport Scheme
from .springs cimport slopes_of_laws
from .stresses cimport add_stress_defects, correct_stress_rates, keep_strain_rows
from .systems cimport factor_all, solve_all
from .unknowns cimport gather, subtract, set_weights
from libc.math cimport INFINITY, fabs, sqrt
from ..steps.rows cimport fail

cdef Py_ssize_t DIVERGED
cdef Py_ssize_t SINGULAR
cdef Py_ssize_t UNSETTLED

cdef double SLOW
cdef double MANY
cdef double REMAINS
cdef Py_ssize_t ITERATIONS
cdef double DIVERGENCE
cdef Py_ssize_t PATIENT
cdef double MIXED
cdef double TINY
cdef double NEWTON_NOISE
cdef double NEWTON_STAGNATED

cdef Py_ssize_t newton(Memory* m, Py_ssize_t dim, Scheme& g, double h, AtNodes given) noexcept nogil
cdef void _subtract_plain(Memory* m, Py_ssize_t dim, Scheme& g, double h, bint mixed) noexcept nogil
cdef void _subtract_accelerated(Memory* m, Py_ssize_t dim, Scheme& g, double h, bint mixed, Py_ssize_t count) noexcept nogil
cdef double _correction_work(Scheme& g) noexcept nogil
cdef void _subtract_corrections(Py_ssize_t dim, Scheme& g) noexcept nogil
cdef double _energy_scale(Scheme& g, double h) noexcept nogil
