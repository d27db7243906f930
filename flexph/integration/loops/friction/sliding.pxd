from ....numerics.loops.views cimport Vec, fill
from ..mechanics.residual cimport trial
from ..memory.memory cimport Memory
from ..memory.structures cimport Given
from .law cimport coefficient
from .rows cimport measure_slips, set_friction_forces
from libc.math cimport sqrt

cdef void slide(Memory* m, Py_ssize_t dim, int contact, Given given) noexcept nogil
cdef void set_sliding_forces(Memory* m) noexcept nogil
