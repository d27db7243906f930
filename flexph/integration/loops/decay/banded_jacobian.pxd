from ....numerics.loops.views cimport fill, get, part, put
from ..memory.memory cimport Memory
from .inertia cimport turning_inertia

cdef Py_ssize_t TAU
cdef Py_ssize_t Y
cdef Py_ssize_t Z
cdef Py_ssize_t RATE

cdef void enter(Memory* m, Py_ssize_t b, Py_ssize_t row, Py_ssize_t column, double value) noexcept nogil
cdef Py_ssize_t border_of(Memory* m, Py_ssize_t dim, Py_ssize_t b) noexcept nogil
cdef void assemble(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b) noexcept nogil
cdef void _enter_spins(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b) noexcept nogil
cdef void _couple_spins(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b, Py_ssize_t i) noexcept nogil
cdef void _turn_shift(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b) noexcept nogil
cdef void _couple_shifts(Memory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t i) noexcept nogil
cdef void _enter_inertia(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b, Py_ssize_t i) noexcept nogil
cdef void _enter_softening(Memory* m, double h, Py_ssize_t b) noexcept nogil
