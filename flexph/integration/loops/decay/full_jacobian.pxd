from ....numerics.algebra.dense cimport add_rows, multiply, solve_many
from ....numerics.loops.views cimport Mat, Vec, add_product, block, entries, fill, part
from ..memory.memory cimport Memory
from ..terms.border cimport add
from .inertia cimport turning_inertia

cdef void add_decay(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b) noexcept nogil
cdef void _add_row(Memory* m, Py_ssize_t b, Py_ssize_t i, Vec values) noexcept nogil
cdef void _end_slopes(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b, Mat N) noexcept nogil
cdef void _rate_slopes(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b, Mat N) noexcept nogil
cdef void _add_turning(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b, Mat w, Mat N) noexcept nogil
cdef void _add_softening(Memory* m, double h, Py_ssize_t b, Mat P) noexcept nogil
cdef void _sum_rows(Memory* m, Py_ssize_t b, Vec D, Mat out) noexcept nogil
