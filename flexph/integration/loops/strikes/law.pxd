from ....contacts.loops.coupled cimport NOTHING
from ....contacts.loops.coupled cimport add_impulses, rate_change
from ....contacts.loops.island_space cimport Island, LawSpace
from ....contacts.loops.proximal cimport solve_proximal
from ....contacts.loops.proximal_coupled cimport proximal_coupled
from ....contacts.loops.problem cimport Chain, Cone, Coupled, Space
from ....numerics.algebra.halves cimport rows_of_halves
from ....numerics.loops.views cimport stored
from ....numerics.loops.views cimport Vec, block, absolute_int, larger, larger_int, padded, part, smaller
from ..memory.memory cimport Memory
from .bearings cimport friction_of
from .bodies cimport are_apart
from .islands cimport assemble, diagonal_response, rows_of
from libc.math cimport INFINITY

cdef Py_ssize_t FEW
cdef double UNEVEN
cdef Py_ssize_t LARGEST

cdef Island prepare(Memory* m, Py_ssize_t dim, LawSpace& law, (Py_ssize_t, Py_ssize_t) ends, double scale, bint again) noexcept nogil
cdef void _find_steps(Memory* m, Vec out, Island& island) noexcept nogil
cdef bint _is_uneven(Memory* m, Py_ssize_t first, Py_ssize_t count) noexcept nogil
cdef (Py_ssize_t, Py_ssize_t) _order(Memory* m, LawSpace& law, Py_ssize_t first, Py_ssize_t count) noexcept nogil
cdef Py_ssize_t _number_bodies(Memory* m, LawSpace& law, Py_ssize_t begin, Py_ssize_t first, Py_ssize_t count) noexcept nogil
cdef void _gather(Memory* m, LawSpace& law, Island& island) noexcept nogil
cdef Coupled _law_by_bodies(LawSpace& law, Island& island) noexcept nogil
cdef Chain _velocity_space(LawSpace& law, Island& island) noexcept nogil
cdef void multiply_compliance(LawSpace& law, Island& island, Vec x, Vec out) noexcept nogil
cdef double solve_island(LawSpace& law, Island& island, double weight, bint rests) noexcept nogil
cdef double _solve_dense(LawSpace& law, Island& island, double weight, bint rests) noexcept nogil
