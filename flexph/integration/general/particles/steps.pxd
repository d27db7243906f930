from libc.math cimport fabs
from libc.string cimport memcpy

from .arrays cimport Space
from .factors cimport set_correction
from .newton cimport solve_step
from .residual cimport set_residual
from .springs cimport energy, set_invariants

cdef Py_ssize_t BY_INVARIANTS, BY_SECANTS, IS_SOLVED
cdef double ACCOUNTED

cdef void take_all(Space* s, Py_ssize_t dim, Py_ssize_t kind) noexcept nogil
cdef void update_sizes(Space* s) noexcept nogil
