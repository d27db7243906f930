from ....numerics.loops.views cimport Mat, Vec, fill
from ..memory.memory cimport Memory
from ..terms.paths cimport set_shapes, sum_products
from ..terms.product_rows cimport add_block, add_product, add_to_column, add_to_row, begin_rows
from .motion cimport product_rate

cdef void add_curve_forces(Memory* m) noexcept nogil
cdef void add_curve_gaps(Memory* m, Vec gap, Vec place) noexcept nogil
cdef void rate_curves(Memory* m, Py_ssize_t dim, Mat others) noexcept nogil
cdef double rate_along(Memory* m, Py_ssize_t c, Vec direction) noexcept nogil
cdef void add_curve_rates(Memory* m, double share, Vec out) noexcept nogil
cdef void add_first_gaps(Memory* m, double share, Vec gap) noexcept nogil
cdef void record_curves(Memory* m, double h, Vec out) noexcept nogil
cdef void add_curve_outputs(Memory* m, Vec out) noexcept nogil
cdef double slip_along(Memory* m, Py_ssize_t c) noexcept nogil
cdef void add_unit_force_along(Memory* m, Py_ssize_t c) noexcept nogil
cdef void add_curves(Memory* m, Py_ssize_t dim, double h, bint has_forces) noexcept nogil
cdef double place_slope(Memory* m, Py_ssize_t c, Py_ssize_t k, Py_ssize_t j) noexcept nogil
cdef double tangent_slope(Memory* m, Py_ssize_t c, Py_ssize_t k, Py_ssize_t j, Vec row) noexcept nogil
cdef void _differentiate_gaps(Memory* m, Py_ssize_t dim, Py_ssize_t c, Py_ssize_t k, Py_ssize_t j) noexcept nogil
cdef void _turn_forces(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
