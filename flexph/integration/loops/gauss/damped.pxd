from ....numerics.algebra.dense cimport least_squares
from ....numerics.loops.views cimport Vec, fill, larger, part
from ..memory.memory cimport Memory
from ..memory.memory cimport stage
from ..memory.structures cimport AtNodes
from ..steps.iterate cimport reference_length
from .spaces cimport Damped
from .momenta cimport balance, is_balanced
from .positions cimport set_positions
from .scheme cimport Scheme
from .unknowns cimport gather, subtract
from libc.math cimport fabs, sqrt

cdef double TINY
cdef double REACH
cdef double FIRST
cdef double LEAST
cdef double LARGEST
cdef double GOOD
cdef double POOR
cdef double CHANGED
cdef double IMPROVED
cdef Py_ssize_t JACOBIANS

cdef Py_ssize_t solve_damped(Memory* m, Py_ssize_t dim, Scheme& g, double h, AtNodes given) noexcept nogil
cdef double _descend(Memory* m, Py_ssize_t dim, Scheme& g, double h, AtNodes given, double damping) noexcept nogil
cdef bint _evaluate(Memory* m, Py_ssize_t dim, Scheme& g, double h, AtNodes given, bint tried) noexcept nogil
cdef void _set_reach(Memory* m, Scheme& g, double h) noexcept nogil
cdef void _reach(Damped a, Py_ssize_t first, Py_ssize_t last, double least) noexcept nogil
cdef bint _differentiate(Memory* m, Py_ssize_t dim, Scheme& g, double h, AtNodes given) noexcept nogil
cdef void _scale_rows(Damped a) noexcept nogil
cdef void _scale_columns(Damped a) noexcept nogil
cdef void _correct(Damped a, double damping) noexcept nogil
cdef double _expected_square(Damped a) noexcept nogil
cdef double _sum_of_squares(Vec x) noexcept nogil
