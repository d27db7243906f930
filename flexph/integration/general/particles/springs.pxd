from libc.math cimport fabs, sqrt

from ....numerics.loops.views cimport Mat, Vec
from .arrays cimport Space
from .lines cimport add_opposite, component

cdef Py_ssize_t OF_LENGTH
cdef double ROUNDED, NEARLY_SAME, NO_CHANGE

cdef double potential(Py_ssize_t kind, Vec law, double square) noexcept nogil
cdef double potential_slope(Py_ssize_t kind, Vec law, double square) noexcept nogil
cdef double potential_curvature(Py_ssize_t kind, Vec law, double square) noexcept nogil
cdef double correction_factor(double along, double size, double before, double after) noexcept nogil
cdef double secant(Py_ssize_t kind, Vec law, double first, double last) noexcept nogil
cdef double secant_slope(Py_ssize_t kind, Vec law, double first, double last) noexcept nogil
cdef double squared_length(Space* s, Py_ssize_t dim, Py_ssize_t k, Vec x) noexcept nogil
cdef double energy(Space* s, Py_ssize_t dim, Vec x) noexcept nogil
cdef void set_invariants(Space* s, Py_ssize_t dim, Vec x, Vec out) noexcept nogil
cdef void add_spring_forces(Space* s, Py_ssize_t dim, Mat lines, double share, Vec out) noexcept nogil
