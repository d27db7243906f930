from ....numerics.loops.views cimport Vec, larger
from ..memory.memory cimport Memory
from libc.math cimport fabs

cdef void store_springs(Memory* m, Py_ssize_t dim, Vec out, Py_ssize_t first) noexcept nogil
cdef bint _holds(Memory* m, Py_ssize_t dim, Py_ssize_t c, Vec springs) noexcept nogil
cdef bint has_no_row(Memory* m, Py_ssize_t dim) noexcept nogil
