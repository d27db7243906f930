from ....numerics.algebra.band cimport solve_transposed as solve_band
from ....numerics.loops.views cimport Vec, copy, fill, get, part
from ..memory.memory cimport Memory
from ..mechanics.arrow cimport _inner
from ..nodal.points cimport gather_points, spread_points

cdef void solve_transposed(Memory* m, Py_ssize_t dim, double h, Vec given, Vec out) noexcept nogil
cdef void _gather(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _gather_body(Memory* m, Py_ssize_t dim, Py_ssize_t b) noexcept nogil
cdef void _spread(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _spread_body(Memory* m, Py_ssize_t dim, Py_ssize_t b) noexcept nogil
