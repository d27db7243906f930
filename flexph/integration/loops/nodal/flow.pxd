from ....numerics.loops.views cimport Vec
from ..memory.memory cimport Memory
from ..terms.border cimport add
from ..terms.spring_laws cimport factor_at

cdef void add_flow_forces(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void add_flows(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void add_flow_energies(Memory* m, Py_ssize_t dim, Vec out) noexcept nogil
cdef void add_flow_works(Memory* m, Py_ssize_t dim, double h, Vec out) noexcept nogil
