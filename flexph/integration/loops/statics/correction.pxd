from ....numerics.loops.binding cimport bind
from ....numerics.loops.views cimport Vec, fill, larger
from ..mechanics.arrow cimport factor, solve
from ..mechanics.motion cimport derive
from ..mechanics.residual cimport residual, trial
from ..memory.memory cimport Memory
from ..memory.structures cimport Given, Table
from ..nodal.forces cimport begin_strains, predict_stresses
from libc.math cimport fabs

cdef double SINGULAR
cdef double LARGEST_TURN

cdef Given _prescribed_values(double h, Table table) noexcept nogil
cdef double _correct(Memory* m, Py_ssize_t dim, Given given) noexcept nogil
cdef void _begin_ahead(Memory* m) noexcept nogil
cdef bint _is_singular(Memory* m) noexcept nogil
cdef double _share(Memory* m, double h) noexcept nogil
