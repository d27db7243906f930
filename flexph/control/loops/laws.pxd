from libc.math cimport copysign, isinf, sqrt
from ...numerics.loops.views cimport Vec, call_one, larger
from .data cimport Coupling, Laws
from .elimination cimport eliminate

cdef Py_ssize_t DRY, LIMIT
cdef Py_ssize_t STEPS
cdef double HOLDS, MET, SHORTEST, INFINITE
cdef void store_rates(Coupling* a) noexcept nogil
cdef void compute_rates(Coupling* a) noexcept nogil
cdef double linearise_laws(Coupling* a) noexcept nogil
cdef void _intersect(Laws& w, Py_ssize_t k, double free, double slope) noexcept nogil
cdef void _meet_dry(Laws& w, Py_ssize_t k, double free, double slope) noexcept nogil
cdef void _meet_limit(Laws& w, Py_ssize_t k, double free, double slope) noexcept nogil
cdef void _call_law(Laws& w, Py_ssize_t k, double free, double slope) noexcept nogil
cdef double _solve_separately(Laws& w, Vec forces) noexcept nogil
cdef bint _meet_all(Laws& w) noexcept nogil
cdef void _newton_step(Laws& w) noexcept nogil
cdef bint meet_laws(Coupling* a) noexcept nogil
