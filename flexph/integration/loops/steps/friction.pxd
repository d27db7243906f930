from ....numerics.loops.views cimport copy, fill, larger
from ..friction.law cimport SOLVED
from ..friction.law cimport coefficient, evaluate_law, solve_law
from ..friction.rows cimport slip_change, end_rates, measure_slips, pressed_size, set_friction_forces, slip_size
from ..memory.memory cimport Memory
from libc.math cimport fabs

cdef double ROUGH
cdef double UNSOLVED
cdef double STILL
cdef double SLIPPING
cdef double RESOLUTION

cdef void begin_friction(Memory* m) noexcept nogil
cdef bint correct_friction(Memory* m, Py_ssize_t dim, double h, double extent) noexcept nogil
cdef void _scale(Memory* m, Py_ssize_t dim, double h, double extent) noexcept nogil
cdef double free_rates(Memory* m) noexcept nogil
cdef bint obeys_law(Memory* m, double h) noexcept nogil
cdef void record_friction(Memory* m, double h) noexcept nogil
cdef bint begins_to_stick(Memory* m, Py_ssize_t dim) noexcept nogil
