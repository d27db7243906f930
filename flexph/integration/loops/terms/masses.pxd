from ....numerics.loops.views cimport Vec, copy
from ..memory.memory cimport Memory
from .spring_laws cimport factor_at

cdef Py_ssize_t MASSES

cdef void set_changing_values(Memory* m, Vec row) noexcept nogil
cdef void set_changing_masses(Memory* m, double share) noexcept nogil
cdef void add_works_of_masses(Memory* m, Py_ssize_t dim, Vec out) noexcept nogil
