from ....numerics.loops.views cimport copy, entries, fill, get, part
from ..memory.memory cimport Memory
from ..memory.memory cimport stage
from .scheme cimport Scheme

cdef Py_ssize_t HISTORY

cdef void guess(Memory* m, Py_ssize_t dim, Scheme g, double h, Py_ssize_t known) noexcept nogil
cdef void _turn_spin(Memory* m, Memory* s, Py_ssize_t dim, Py_ssize_t b) noexcept nogil
cdef void remember(Memory* m, Scheme g, double h) noexcept nogil
