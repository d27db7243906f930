from ....contacts.loops.island_space cimport Island, LawSpace
from ....contacts.loops.newton cimport EXACT
from ....contacts.loops.newton cimport SOLVED
from ....numerics.loops.views cimport Vec, block, entries, fill, larger
from ..memory.memory cimport Memory
from ..memory.striking cimport Striking
from .bearings cimport friction_of, is_bearing, slip_of
from .law cimport multiply_compliance, solve_island
from libc.math cimport INFINITY, fabs, sqrt

cdef Py_ssize_t REPEATED

cdef double solve_pressed(Memory* m, Striking& s, Island& island, double weight, bint rests) noexcept nogil
cdef void move_rates(Memory* m, Striking& s, Island& island, Vec x, Vec out) noexcept nogil
cdef bint _has_bearing(Memory* m, Island& island) noexcept nogil
cdef void _set_joint_impulses(Memory* m, LawSpace& law, Island& island) noexcept nogil
cdef double _joint_response(Memory* m, Island& island, Py_ssize_t l, Py_ssize_t row) noexcept nogil
cdef void _linearise(Memory* m, LawSpace& law, Island& island) noexcept nogil
cdef double _direction(Memory* m, Py_ssize_t e) noexcept nogil
cdef double _largest_turn(Memory* m, LawSpace& law, Island& island) noexcept nogil
