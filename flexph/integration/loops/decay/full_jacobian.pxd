from ....numerics.algebra.dense cimport solve_many
from ....numerics.loops.views cimport Mat, block, entries, fill, part
from ..memory.memory cimport Memory
from ..terms.border cimport add
from .full cimport multiply
from .inertia cimport turning_inertia

cdef void add_decay(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b) noexcept nogil
cdef void _gain_row(Memory* m, Py_ssize_t b, Py_ssize_t i, Mat N, Mat X) noexcept nogil
cdef void _end_slopes(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b, Mat N) noexcept nogil
cdef void _rate_slopes(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b, Mat N) noexcept nogil
cdef void _add_turning(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b, Mat w, Mat N) noexcept nogil
cdef void _add_softening(Memory* m, double h, Py_ssize_t b, Py_ssize_t n) noexcept nogil
