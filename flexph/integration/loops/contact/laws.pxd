from ....numerics.loops.views cimport larger
from ..memory.memory cimport Memory
from libc.math cimport fabs, sqrt

cdef double TINY

cdef double potential(Memory* m, Py_ssize_t c, double depth) noexcept nogil
cdef void set_normal_force(Memory* m, Py_ssize_t c, double h) noexcept nogil
cdef (double, double, double, double) _elastic(Memory* m, Py_ssize_t c, double before, double after) noexcept nogil
