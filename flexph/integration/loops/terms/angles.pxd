from libc.math cimport atan2, fabs

cdef (double, double, double) kappa(double y, double x) noexcept nogil
