from libc.math cimport fabs

from ....numerics.loops.views cimport copy
from .arrays cimport Space
from .factors cimport apply_update, set_correction
from .jacobian cimport assemble
from .residual cimport set_residual

cdef Py_ssize_t IS_SOLVED, IS_SINGULAR, HAS_DIVERGED, IS_UNSETTLED, ITERATIONS
cdef double SETTLED, LEAST_REDUCTION, STAGNATED, NOISE, STALLED, SUDDEN, FAR, SLOW, SINGULAR_UPDATE, NO_CHANGE

cdef Py_ssize_t solve_step(
    Space* s, Py_ssize_t dim, Py_ssize_t kind, Py_ssize_t k, double h, double before
) noexcept nogil
cdef bint is_last(double size, double previous, double by_own, bint own, bint fresh) noexcept nogil
cdef bint update_inverse(Space* s) noexcept nogil
