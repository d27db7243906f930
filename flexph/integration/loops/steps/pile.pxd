from ....numerics.algebra.band cimport solve as solve_band
from ....numerics.loops.views cimport Vec, fill
from ..mechanics.arrow cimport expand, reduce
from ..memory.memory cimport Memory
from libc.math cimport sqrt

cdef double SOLVED
cdef Py_ssize_t PRODUCTS

cdef void solve_pile(Memory* m, Py_ssize_t dim, int decay, double h) noexcept nogil
cdef void _solve_blocks(Memory* m, Vec x) noexcept nogil
cdef void _multiply(Memory* m, Vec x, Vec out) noexcept nogil
cdef double _dot(Vec a, Vec b) noexcept nogil
cdef void _solve(Memory* m) noexcept nogil
