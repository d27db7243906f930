from ....numerics.loops.views cimport Vec, smaller_int, larger, larger_int, smaller
from ..memory.memory cimport Memory
from libc.math cimport INFINITY, fabs, sqrt

cdef double APART
cdef double BEYOND
cdef double END
cdef double NEAR
cdef double SETTLED
cdef Py_ssize_t STEPS

cdef Py_ssize_t count_pieces(Memory* m, Py_ssize_t c) noexcept nogil
cdef Py_ssize_t piece_at(Memory* m, Py_ssize_t c, double s) noexcept nogil
cdef double local_place(Memory* m, Py_ssize_t c, Py_ssize_t e, double s) noexcept nogil
cdef double length_of(Memory* m, Py_ssize_t c, Py_ssize_t e) noexcept nogil
cdef void add_shapes(Memory* m, Py_ssize_t c, double s, Py_ssize_t order, double share, Vec out) noexcept nogil
cdef void _add_coefficients(Memory* m, Py_ssize_t c, Py_ssize_t e, double share, Vec out) noexcept nogil
cdef void add_chord(Memory* m, Py_ssize_t c, double s0, double s1, Vec out) noexcept nogil
cdef void add_chord_change(Memory* m, Py_ssize_t c, double s0, double s1) noexcept nogil
cdef void _take_piece(Memory* m, Py_ssize_t c, Py_ssize_t e, Vec product) noexcept nogil
cdef (double, double, double, double) _evaluate_at(Memory* m, Py_ssize_t c, double t) noexcept nogil
cdef double foot(Memory* m, Py_ssize_t c, Vec product) noexcept nogil
cdef double foot_from(Memory* m, Py_ssize_t c, Vec product, double s) noexcept nogil
cdef bint is_beyond(Memory* m, Py_ssize_t c, double s) noexcept nogil
cdef double sharpest_turn(Memory* m, Py_ssize_t c, Vec product, double s0, double s1) noexcept nogil
cdef double _slope_of_piece(Memory* m, Py_ssize_t c, double t, Vec out) noexcept nogil
cdef Py_ssize_t first_used(Memory* m, Py_ssize_t c, double s0, double s1) noexcept nogil
cdef Py_ssize_t end_used(Memory* m, Py_ssize_t c, double s0, double s1) noexcept nogil
