from ....numerics.loops.views cimport Number
from ....numerics.loops.views cimport get, put
from ..memory.memory cimport Memory
from ..memory.memory cimport Memory as AnyMemory
from libc.math cimport NAN

cdef Py_ssize_t entry_of(AnyMemory* m, Py_ssize_t i, Py_ssize_t j) noexcept nogil
cdef void add(AnyMemory* m, Py_ssize_t i, Py_ssize_t j, Number value) noexcept nogil
