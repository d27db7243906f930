from ....contacts.loops.island_space cimport Island, LawSpace
from ....contacts.loops.newton cimport TINY
from ....numerics.loops.views cimport IVec, Mat, Vec, block, fill, larger, smaller
from ..memory.memory cimport Memory
from .bearings cimport friction_of, is_bearing, slip_of
from .bodies cimport are_apart
from .coupled cimport rate_by_response, add_coupled_impulse
from .rows cimport bending, surface_rate, side_velocity
from libc.math cimport fabs, sqrt

cdef Py_ssize_t find_islands(Memory* m, IVec chosen) noexcept nogil
cdef void link_bodies(Memory* m, IVec chosen) noexcept nogil
cdef Py_ssize_t _append_coupled(Memory* m, Py_ssize_t first, Py_ssize_t place) noexcept nogil
cdef Py_ssize_t rows_of(Memory* m, Py_ssize_t dim, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef void assemble(Memory* m, LawSpace& law, Island& island) noexcept nogil
cdef void _assemble_coupled(Memory* m, LawSpace& law, Py_ssize_t first, Py_ssize_t count, Py_ssize_t r) noexcept nogil
cdef void _assemble(Memory* m, LawSpace& law, Py_ssize_t first, Py_ssize_t count, Py_ssize_t r) noexcept nogil
cdef void _add_coupling(Memory* m, Mat D, (Py_ssize_t, Py_ssize_t) sides, (Py_ssize_t, Py_ssize_t) places, Py_ssize_t r) noexcept nogil
cdef double rate_change(Memory* m, Mat change, Py_ssize_t c, Py_ssize_t r) noexcept nogil
cdef double rate_size(Memory* m, Mat v, Mat w, Vec du, Py_ssize_t c, Py_ssize_t r) noexcept nogil
cdef void add_impulse(Memory* m, Py_ssize_t member, Py_ssize_t r, double impulse) noexcept nogil
cdef void _add_impulse(Memory* m, Py_ssize_t c, Py_ssize_t r, double impulse, Mat change) noexcept nogil
cdef double law_defect(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef double diagonal_response(Memory* m, Py_ssize_t c, Py_ssize_t r) noexcept nogil
