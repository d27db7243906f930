from ....numerics.loops.views cimport smaller_int
from .spaces cimport Acceleration

cdef double ALIKE

cdef void accelerate(Acceleration a, Py_ssize_t count) noexcept nogil
cdef void _keep_pair(Acceleration a, Py_ssize_t count) noexcept nogil
