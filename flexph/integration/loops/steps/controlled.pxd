from ....kernels.convergence.rules cimport blocks_to, factor_of
from ....numerics.loops.views cimport Vec, copy, smaller_int, larger, part
from ..memory.memory cimport Memory
from ..memory.structures cimport Course, Pair, Table, Within
from .calls cimport begin_pair_within, withdraw_within
from .rows cimport begin_row, close_row
from .step cimport take_step
from libc.math cimport sqrt

cdef Py_ssize_t ENERGY
cdef Py_ssize_t ERROR
cdef double GOES_ON
cdef Py_ssize_t H
cdef Py_ssize_t LAST
cdef Py_ssize_t LEAST
cdef double LEFT
cdef Py_ssize_t LONGEST
cdef Py_ssize_t MOST
cdef Py_ssize_t ORDER
cdef Py_ssize_t REACHED
cdef Py_ssize_t REJECTED
cdef Py_ssize_t SAFETY
cdef Py_ssize_t SMALLEST
cdef Py_ssize_t STATUS
cdef Py_ssize_t TOLERANCE
cdef double TOO_SMALL
cdef Py_ssize_t TRIES
cdef double UNSOLVED

cdef bint is_controlled(Memory* m, Py_ssize_t dim, Table table, Course course) noexcept nogil
cdef void _take_controlled(Memory* m, Py_ssize_t dim, Table table, Course course) noexcept nogil
cdef void _divide(Vec times, double start, double end, double h) noexcept nogil
cdef double _error(Pair pair, double energy) noexcept nogil
cdef void _go_back(Memory* m, Pair pair, Within within) noexcept nogil
