from libc.math cimport atan2, fabs

cdef (double, double, double) kappa(double y, double x) noexcept nogil
cdef double term_gain(double weight, Py_ssize_t angular, double p0, double p1, double q0, double q1) noexcept nogil
cdef (double, double) term_slopes(double weight, Py_ssize_t angular, double p0, double p1, double q0, double q1) noexcept nogil
