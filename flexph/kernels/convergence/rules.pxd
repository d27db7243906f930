from ...numerics.loops.views cimport larger, larger_int, smaller
from libc.math cimport INFINITY, ceil, fabs, floor, isinf, log, log10, sqrt

cdef Py_ssize_t DIGITS
cdef double FITS
cdef double RESOLUTION
cdef double ROUND_OFF
cdef double NEWTON_FIRST_REDUCTION
cdef double NEWTON_NOISE
cdef double NEWTON_SETTLED
cdef double NEWTON_SETTLED_ELASTIC

cpdef double settled_at(Py_ssize_t flexible) noexcept nogil
cpdef bint stagnates(double size, double previous) noexcept nogil
cpdef bint settles(double size, double previous, Py_ssize_t used, double settled) noexcept nogil
cpdef bint is_slow(double size, double previous, Py_ssize_t used, double slow, double many) noexcept nogil
cpdef double unresolved_energy(double m, double J, double k, double k_phi, double size, double h) noexcept nogil
cpdef double rounded(double h) noexcept nogil
cpdef double factor_of(double error, double last, double order, double safety, double least, double most) noexcept nogil
cpdef Py_ssize_t blocks_to(double start, double end, Py_ssize_t count, double h) noexcept nogil
