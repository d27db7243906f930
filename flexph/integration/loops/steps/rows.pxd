from ....numerics.loops.views cimport Vec, copy, fill, flat, get, larger
from ..contact.anchors cimport store_springs
from ..memory.memory cimport Memory
from ..memory.structures cimport Rows
from libc.math cimport fabs

cdef void begin_row(Memory* m) noexcept nogil
cdef void close_row(Memory* m, Py_ssize_t dim, Rows rows, Py_ssize_t row) noexcept nogil
cdef double record_energy(Memory* m) noexcept nogil
cdef void store(Memory* m, Py_ssize_t dim, Vec out) noexcept nogil
cdef Py_ssize_t _append(Vec field, Vec out, Py_ssize_t first) noexcept nogil
cdef Py_ssize_t fail(Memory* m, Py_ssize_t reason, Py_ssize_t iterations, double size) noexcept nogil
cdef bint refuse(Memory* m, Py_ssize_t reason, Py_ssize_t iterations) noexcept nogil
