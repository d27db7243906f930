from ....numerics.algebra.dense cimport factor, multiply, solve
from ....numerics.loops.views cimport Mat, block, fill, part
from ..memory.memory cimport Memory
from .inertia cimport turning_inertia
from libc.math cimport sqrt

cdef void prepare(Memory* m, Py_ssize_t b, double h) noexcept nogil
cdef void add_damping_stresses(Memory* m, Py_ssize_t b) noexcept nogil
cdef void end_rates(Memory* m, Py_ssize_t dim, Py_ssize_t b) noexcept nogil
cdef void _fill(Memory* m, Py_ssize_t dim, Py_ssize_t b, Mat B, Mat F) noexcept nogil
