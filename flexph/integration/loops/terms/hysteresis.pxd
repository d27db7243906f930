from ....numerics.loops.views cimport larger, smaller
from ..memory.memory cimport Memory as AnyMemory
from libc.math cimport exp, expm1, fabs, log1p

cdef (double, double) follow_path(AnyMemory* m, Py_ssize_t i, double z0, double change, double h) noexcept nogil
cdef double path_slope(AnyMemory* m, Py_ssize_t i, double z0, double change, double h) noexcept nogil
cdef double path_energy(AnyMemory* m, Py_ssize_t i, double z) noexcept nogil
cdef (double, double) _follow_linear(AnyMemory* m, Py_ssize_t i, double z, double slip) noexcept nogil
cdef double _linear_slope(AnyMemory* m, Py_ssize_t i, double z, double slip) noexcept nogil
cdef double _first(double x) noexcept nogil
cdef double _second(double x) noexcept nogil
cdef (double, double) _follow_parts(AnyMemory* m, Py_ssize_t i, double z, double slip) noexcept nogil
cdef double _parts_slope(AnyMemory* m, Py_ssize_t i, double z, double slip) noexcept nogil
cdef double _middle(AnyMemory* m, Py_ssize_t i, double z, double slip) noexcept nogil
cdef double _power(double y, double exponent) noexcept nogil
cdef (double, double) _bend_bristles(AnyMemory* m, Py_ssize_t i, double z0, double change, double h) noexcept nogil
cdef double _bristle_slope(AnyMemory* m, Py_ssize_t i, double z, double slip, double h) noexcept nogil
cdef double _first_slope(double x) noexcept nogil
