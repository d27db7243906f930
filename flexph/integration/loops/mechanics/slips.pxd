from ....numerics.loops.views cimport Vec, fill, smaller
from ..contact.jacobian cimport differentiate_contact
from ..memory.memory cimport Memory
from ..terms.angles cimport term_gain, term_slopes
from ..terms.creep cimport add_creep, set_creep_forces, has_creep_law, slope_by_load
from ..terms.product_rows cimport add_block, add_product, add_to_column, begin_rows
from .couplings cimport add_stiffness
from .curves cimport place_slope, rate_along, rate_curves, tangent_slope
from .motion cimport mean_speeds, product_rate
from .relations cimport force, slope
from libc.math cimport fabs, sqrt

cdef Py_ssize_t COULOMB
cdef double SMALL

cdef void set_slip_forces(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void _load_wheels(Memory* m) noexcept nogil
cdef double _factor(Memory* m, Py_ssize_t i) noexcept nogil
cdef double _speed(Memory* m, Py_ssize_t slip) noexcept nogil
cdef double _resistance(Memory* m, Py_ssize_t slip, double speed) noexcept nogil
cdef void record_slips(Memory* m, double h, Vec out) noexcept nogil
cdef void add_slips(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _add_loads(Memory* m, Py_ssize_t dim, double h, Py_ssize_t slip) noexcept nogil
cdef void _differentiate_term(Memory* m, Py_ssize_t dim, double h, Py_ssize_t i, Py_ssize_t k) noexcept nogil
cdef void _differentiate_curve(Memory* m, Py_ssize_t dim, Py_ssize_t c, Py_ssize_t k) noexcept nogil
