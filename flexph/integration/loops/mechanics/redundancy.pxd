from ....numerics.algebra.band cimport factor as factor_band, solve as solve_band
from ....numerics.algebra.dense cimport perpendicular
from ....numerics.loops.views cimport Vec, block, copy, smaller_int, fill, get, larger_int, part
from ..memory.memory cimport Memory
from ..memory.structures cimport Given
from ..terms.border cimport add, entry_of
from .arrow cimport eliminate, expand, reduce, solve_border
from .assembly cimport assemble_step
from .couplings cimport differentiate_vectors
from ..terms.paths cimport set_curves_at_rest
from libc.math cimport fabs

cdef double RANK

cdef bint find_dependent(Memory* m, Py_ssize_t dim, Vec coefficient) noexcept nogil
cdef void keep_independent(Memory* m, Vec gap) noexcept nogil
cdef void keep_least(Memory* m, Vec lam) noexcept nogil
cdef void _project(Memory* m, Vec values, bint weighed) noexcept nogil
cdef bint factor(Memory* m, Py_ssize_t dim, int decay, int contact, Given given) noexcept nogil
cdef bint factor_assembled(Memory* m, Py_ssize_t dim, int decay) noexcept nogil
cdef bint _factor_border(Memory* m) noexcept nogil
cdef void _products(Memory* m, Vec x, Vec out) noexcept nogil
cdef void solve(Memory* m, Py_ssize_t dim, int decay, double h) noexcept nogil
cdef void solve_least(Memory* m) noexcept nogil
cdef double _flexibility(Memory* m, Py_ssize_t row) noexcept nogil
cdef void _choose_dependent(Memory* m) noexcept nogil
cdef void _set_gradients(Memory* m, Py_ssize_t dim, Vec coefficient) noexcept nogil
cdef void _add_gradient(Memory* m, Py_ssize_t dim, Py_ssize_t row, Py_ssize_t p, double gain) noexcept nogil
cdef void _add_entry(Memory* m, Py_ssize_t row, Py_ssize_t unknown, double value) noexcept nogil
