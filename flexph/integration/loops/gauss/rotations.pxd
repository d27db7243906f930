from ....numerics.loops.views cimport Mat, Vec
from ..memory.memory cimport Memory
from ..memory.memory cimport stage
from .scheme cimport Scheme
from libc.math cimport fabs

cdef double LEAST_PIVOT

cdef bint factor_rotations(Py_ssize_t dim, Scheme& g, double h) noexcept nogil
cdef void _spin_block(Py_ssize_t dim, double factor, Vec spin, Mat out, Py_ssize_t row, Py_ssize_t column) noexcept nogil
cdef bint _invert_block(Py_ssize_t dim, Mat T, Py_ssize_t k) noexcept nogil
cdef void _multiply_block(Py_ssize_t dim, Mat T, Py_ssize_t row, Py_ssize_t k) noexcept nogil
cdef void _subtract_product(Py_ssize_t dim, Mat T, Py_ssize_t row, Py_ssize_t k, Py_ssize_t column) noexcept nogil
cdef void _solve_transport(Py_ssize_t dim, Mat T, Vec x) noexcept nogil
cdef void _subtract_block(Py_ssize_t dim, Mat T, Py_ssize_t row, Py_ssize_t k, Vec x) noexcept nogil
cdef void drive_arm(Memory* m, Py_ssize_t dim, Scheme& g, Py_ssize_t n) noexcept nogil
cdef void turn(Memory* m, Py_ssize_t dim, Scheme& g) noexcept nogil
cdef void _invert_in_the_plane(Memory* s, Py_ssize_t b) noexcept nogil
cdef void _invert_in_space(Memory* s, Py_ssize_t b) noexcept nogil
