from ...numerics.algebra.band cimport factor as factor_band, solve as solve_band
from ...numerics.algebra.halves cimport add_entry, factor_halves, is_of_second, rows_of_first, solve_halves
from ...numerics.loops.threads cimport run_both
from ...numerics.loops.views cimport Vec, fill, part
from .problem cimport Chain, Coupled, Side

cdef Py_ssize_t X
cdef Py_ssize_t RATES
cdef Py_ssize_t CHANGE
cdef Py_ssize_t BEST
cdef Py_ssize_t TRIED
cdef Py_ssize_t KEPT
cdef Py_ssize_t CENTRE
cdef Py_ssize_t NOTHING
cdef Py_ssize_t POINT

cdef void add_impulses(Coupled& p, Vec x, Vec given, Chain& s) noexcept nogil
cdef void add_impulse(Coupled& p, Py_ssize_t k, Py_ssize_t i, double impulse, Chain& s) noexcept nogil
cdef double rate_change(Coupled& p, Py_ssize_t k, Py_ssize_t i, Chain& s) noexcept nogil
cdef void rates_of(Coupled& p, Vec x, Vec out, Chain& s) noexcept nogil
cdef bint solve_steps(Coupled& p, Vec out, Chain& s) noexcept nogil
cdef bint _factor(Chain& s) noexcept nogil
cdef void _solve(Chain& s) noexcept nogil
cdef bint _affects(Coupled& p, Py_ssize_t k, Py_ssize_t j, Chain& s) noexcept nogil
cdef bint _is_active(Coupled& p, Py_ssize_t k, Chain& s) noexcept nogil
cdef bint _is_kept(Coupled& p, Chain& s) noexcept nogil
cdef void _assemble(Coupled& p, Chain& s) noexcept nogil
cdef void _assemble_side(Side& side) noexcept nogil
cdef bint _is_here(Side& side, Py_ssize_t i, Py_ssize_t j, Py_ssize_t n) noexcept nogil
cdef void _add(Side& side, Py_ssize_t k, (Py_ssize_t, Py_ssize_t) ends, Py_ssize_t n) noexcept nogil
cdef void _add_entry(Chain& s, Py_ssize_t i, Py_ssize_t j, double value) noexcept nogil
