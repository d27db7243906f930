from ....numerics.loops.views cimport copy, entries, fill, get, part
from ..memory.memory cimport Memory
from ..memory.memory cimport stage
from .scheme cimport Scheme

cdef Py_ssize_t HISTORY

cdef void guess(Memory* m, Py_ssize_t dim, Scheme& g, double h, Py_ssize_t known) noexcept nogil
cdef double _lagrange_factor(Scheme& g, Py_ssize_t node, double place, double at) noexcept nogil
cdef double _line_weight(Scheme& g, Py_ssize_t j, double away, double mean, double spread) noexcept nogil
cdef bint _is_smooth(Memory* m, Scheme& g, double mean, double spread) noexcept nogil
cdef void _turn_spin(Memory* m, Memory* s, Py_ssize_t dim, Py_ssize_t b, double quarter) noexcept nogil
cdef void remember(Memory* m, Scheme& g, double h) noexcept nogil
