from ....numerics.loops.views cimport Vec, larger
from ..mechanics.curves cimport add_curve_rates, add_first_gaps, rate_curves
from ..mechanics.motion cimport mean_speeds, product_rate
from ..mechanics.rolling cimport term_increment, world_spin
from ..memory.memory cimport Memory
from ..memory.structures cimport Given
from libc.math cimport fabs

cdef double RESOLUTION
cdef double TINY
cdef double NEWTON_BALANCED
cdef double NEWTON_FORGOTTEN

cdef double reference_length(Memory* m) noexcept nogil
cdef bint is_open(Memory* m, double closed) noexcept nogil
cdef bint is_balanced(Memory* m, double h) noexcept nogil
cdef void take_increments(Memory* m, Py_ssize_t dim, Given given) noexcept nogil
cdef double correction_work(Memory* m, double h) noexcept nogil
cdef double energy_scale(Memory* m, double h) noexcept nogil
cdef double _body_torque(Memory* m, Py_ssize_t b, Py_ssize_t i) noexcept nogil
cdef double coordinate_size(Memory* m) noexcept nogil
cdef double kinetic_energy(Memory* m) noexcept nogil
cdef bint below_resolution(Memory* m, double size, double h) noexcept nogil
