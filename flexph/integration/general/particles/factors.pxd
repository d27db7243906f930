from libc.math cimport fabs, isfinite

from ....numerics.loops.views cimport Vec
from .arrays cimport Space

cdef bint factor(Space* s) noexcept nogil
cdef void exchange_rows(Space* s, Py_ssize_t k, Py_ssize_t p) noexcept nogil
cdef void eliminate(Vec row, Vec pivot, Py_ssize_t k, double ratio, Py_ssize_t m) noexcept nogil
cdef void solve(Space* s, Vec right, Vec out) noexcept nogil
cdef void set_correction(Space* s, Vec out) noexcept nogil
cdef void apply_update(Vec correction, Vec turns, Vec out) noexcept nogil
