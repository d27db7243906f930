from ....numerics.loops.views cimport call_one
from ..terms.masses cimport set_changing_values
from ..memory.memory cimport Memory
from ..memory.structures cimport Given, Prescribed
from ..memory.given cimport given_over

cdef bint is_whole(Prescribed p, double begin, double end) noexcept nogil
cdef bint request_data(Memory* m, Prescribed p, double begin, double end, Py_ssize_t kind) noexcept nogil
cdef Given data_between(Prescribed p, double begin, double end) noexcept nogil
