from ....numerics.loops.views cimport Mat, Ten
from ..memory.memory cimport Memory

cdef void place_solids(Memory* m, Py_ssize_t dim, Mat r, Ten R, Mat out) noexcept nogil
cdef double lever(Memory* m, Py_ssize_t dim, Py_ssize_t k, Py_ssize_t i) noexcept nogil
