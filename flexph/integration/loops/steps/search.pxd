from ....kernels.convergence.rules cimport stagnates
from ....numerics.loops.views cimport copy, fill, larger, smaller
from ..contact.forces cimport begin_contacts
from ..memory.memory cimport Memory
from ..memory.structures cimport Given, Kinds
from ..nodal.forces cimport begin_strains, predict_stresses
from ..solids.forces cimport begin_solids, predict_solid_stresses
from .rows cimport fail
from .iterate cimport below_resolution, coordinate_size, energy_scale, correction_work
from .newton cimport evaluate, factor_step, is_admissible, solve_step
from libc.math cimport INFINITY, fabs, isfinite, isinf, sqrt

cdef Py_ssize_t DIVERGED
cdef Py_ssize_t OPENED
cdef Py_ssize_t SINGULAR
cdef Py_ssize_t UNSETTLED

cdef double SHORTEST
cdef double LEFT_OVER
cdef double TINY
cdef Py_ssize_t NEWTON_ITERATIONS
cdef double NEWTON_NOISE
cdef Py_ssize_t NEWTON_SEARCHES
cdef double NEWTON_SETTLED

cdef Py_ssize_t search(Memory* m, Py_ssize_t dim, Kinds kinds, Given given) noexcept nogil
cdef double _take_share(Memory* m, Py_ssize_t dim, Kinds kinds, Given given) noexcept nogil
cdef double _slope(Memory* m) noexcept nogil
