from ....numerics.algebra.dense cimport factor, solve
from ....numerics.loops.views cimport Mat, block, fill, part
from ..memory.memory cimport Memory
from .inertia cimport turning_inertia

cdef void prepare(Memory* m, Py_ssize_t b, double h) noexcept nogil
cdef void _sum_modes(Memory* m, Py_ssize_t b, double h, Mat B, Mat A) noexcept nogil
cdef void _multiply_constants(Memory* m, Py_ssize_t b, Mat B, Mat A) noexcept nogil
cdef void multiply(Mat A, Py_ssize_t skipped, Mat B, Mat out) noexcept nogil
cdef void soften(Memory* m, Py_ssize_t b) noexcept nogil
cdef void end_rates(Memory* m, Py_ssize_t dim, Py_ssize_t b) noexcept nogil
cdef void _fill(Memory* m, Py_ssize_t dim, Py_ssize_t b, Mat B, Mat F) noexcept nogil
