from ....numerics.loops.views cimport call_one, copy
from ..memory.memory cimport Memory
from ..memory.structures cimport Given, Prescribed, Table

cdef Given given_of(Table table, Py_ssize_t k) noexcept nogil
cdef Given _given(Table table, Py_ssize_t k, double h) noexcept nogil
cdef bint is_whole(Prescribed p, double begin, double end) noexcept nogil
cdef bint ask(Memory* m, Prescribed p, double begin, double end, Py_ssize_t kind) noexcept nogil
cdef Given given_between(Prescribed p, double begin, double end) noexcept nogil
