from libc.math cimport exp, fabs, sqrt, tanh

from ....numerics.loops.views cimport Vec, smaller
from .arrays cimport Space
from .lines cimport add_opposite, relative

cdef Py_ssize_t OF_VISCOUS, OF_QUADRATIC, OF_COULOMB, OF_DRAG
cdef double SMALL_RATE, NEAR_RATE

cdef double relation_force(Py_ssize_t kind, Vec law, double rate) noexcept nogil
cdef double friction_level(Vec law, double rate) noexcept nogil
cdef double relation_slope(Py_ssize_t kind, Vec law, double rate) noexcept nogil
cdef double relation_scale(Py_ssize_t kind, Vec law) noexcept nogil
cdef double resistance(Py_ssize_t kind, Vec law, double rate) noexcept nogil
cdef double resistance_slope(Py_ssize_t kind, Vec law, double rate) noexcept nogil
cdef void add_damper_forces(Space* s, Py_ssize_t dim, Vec v, Vec out) noexcept nogil
