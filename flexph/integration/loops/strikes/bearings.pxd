from ....numerics.loops.views cimport Mat, Vec, fill, part
from ..friction.law cimport coefficient
from ..friction.rows cimport differentiate_slips, end_rates, measure_slips, pressed_size, set_friction_forces, set_gradients, slip_size
from ..mechanics.motion cimport mean_shapes, node_speeds
from ..memory.memory cimport Memory
from ..steps.friction cimport record_friction, begins_to_stick
from ..steps.impulse cimport INSTANT
from libc.math cimport sqrt

cdef void mark_bearings(Memory* m, Py_ssize_t mark) noexcept nogil
cdef bint is_bearing(Memory* m, Py_ssize_t c) noexcept nogil
cdef double friction_of(Memory* m, Py_ssize_t c) noexcept nogil
cdef double size_slips(Memory* m, Py_ssize_t dim, Mat v, Mat w, Vec du) noexcept nogil
cdef Py_ssize_t slip_of(Memory* m, Py_ssize_t c, Py_ssize_t r) noexcept nogil
cdef void apply_friction(Memory* m, double h) noexcept nogil
cdef void evaluate_bearings(Memory* m, double h) noexcept nogil
cdef void _rate(Memory* m) noexcept nogil
cdef void record_bearings(Memory* m, double h) noexcept nogil
cdef void begin_slips(Memory* m, Py_ssize_t dim) noexcept nogil
cdef double write_slips(Memory* m, Py_ssize_t dim, Vec out) noexcept nogil
cdef bint bearings_begin_to_stick(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void scale_pressing(Memory* m, double share) noexcept nogil
cdef void rate_at_end(Memory* m) noexcept nogil
cdef void record_struck(Memory* m, Py_ssize_t dim, bint settles) noexcept nogil
