from ....numerics.loops.views cimport larger
from ..memory.memory cimport Memory
from .product_rows cimport add_block, add_to_column
from libc.math cimport atan, cos, fabs, sin, sqrt

cdef Py_ssize_t CUBIC
cdef Py_ssize_t HYPERBOLIC
cdef double NEAR

cdef bint has_creep_law(Memory* m, Py_ssize_t slip) noexcept nogil
cdef void set_creep_forces(Memory* m, Py_ssize_t slip) noexcept nogil
cdef double limit_of(Memory* m, Py_ssize_t slip) noexcept nogil
cdef double stiffness(Memory* m, Py_ssize_t i, Py_ssize_t k, Py_ssize_t l) noexcept nogil
cdef double linear_force(Memory* m, Py_ssize_t slip, Py_ssize_t k) noexcept nogil
cdef double tangential_force(Memory* m, Py_ssize_t slip) noexcept nogil
cdef (double, double) saturation(Memory* m, Py_ssize_t i, double x) noexcept nogil
cdef double slope_by_load(Memory* m, Py_ssize_t slip, Py_ssize_t k) noexcept nogil
cdef void add_creep(Memory* m, Py_ssize_t slip) noexcept nogil
