from ....numerics.loops.views cimport Mat, Vec
from ..memory.memory cimport Memory
from .angles cimport kappa
from libc.math cimport M_PI as pi, atan2, fabs, floor, sqrt

cdef double TOUCHING
cdef double CLOSE

cdef double rope_change(Memory* m, Py_ssize_t r, Vec before, Vec after) noexcept nogil
cdef void add_rope_forces(Memory* m, Py_ssize_t r, double tension) noexcept nogil
cdef bint leaves_sheaves(Memory* m, Vec before, Vec after, Mat first, Mat last) noexcept nogil
cdef bint _passes(Memory* m, Py_ssize_t k, Mat first, Mat last) noexcept nogil
cdef double _arc(Memory* m, Py_ssize_t a, Vec product) noexcept nogil
cdef double _tangent_angle(Memory* m, Py_ssize_t k, Vec product) noexcept nogil
cdef double span_slope(double offset, double l0, double l1) noexcept nogil
cdef double span_curvature(double offset, double l0, double l1) noexcept nogil
