from ....numerics.loops.views cimport Mat, Vec
from ..memory.memory cimport Memory
from ..memory.memory cimport Memory as AnyMemory
from ..terms.angles cimport term_gain, term_slopes
from .motion cimport mean_speeds, product_rate

cdef double term_increment(AnyMemory* m, Py_ssize_t i) noexcept nogil
cdef (double, double) increment_slopes(AnyMemory* m, Py_ssize_t i) noexcept nogil
cdef double world_spin(Memory* m, Py_ssize_t dim, Py_ssize_t i, Mat w) noexcept nogil
cdef void add_term_forces(Memory* m) noexcept nogil
cdef void add_term_torques(Memory* m) noexcept nogil
cdef void add_squares(Memory* m, Vec gap) noexcept nogil
cdef void add_gap(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef bint has_fallen(Memory* m) noexcept nogil
