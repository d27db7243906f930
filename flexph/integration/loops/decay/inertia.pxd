from ....numerics.loops.views cimport Mat
from ..memory.memory cimport Memory

cdef void turning_inertia(Memory* m, Py_ssize_t dim, Py_ssize_t b, Mat J) noexcept nogil
