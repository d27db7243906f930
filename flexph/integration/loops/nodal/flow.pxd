from ....numerics.loops.views cimport Vec
from ..memory.memory cimport Memory
from ..terms.border cimport add

cdef double flow_speed(Memory* m, Py_ssize_t k, Py_ssize_t end) noexcept nogil
cdef void push_flows(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void add_flows(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void add_flow_energies(Memory* m, Py_ssize_t dim, Vec out) noexcept nogil
cdef void add_flow_works(Memory* m, Py_ssize_t dim, double h, Vec out) noexcept nogil
