from ....numerics.loops.views cimport Number
from ....numerics.loops.views cimport Vec, fill, get, put, row_product, divided
from ..memory.memory cimport Memory as AnyMemory
from ..terms.angles cimport kappa
from ..terms.border cimport add
from ..terms.nodes cimport differentiate_node
from ..terms.product_rows cimport add_block, add_pair, add_product, begin_rows
from ..terms.ropes cimport span_curvature
from .rolling cimport term_increment, increment_slopes
from .springs cimport rope_stiffness, tangent
from libc.math cimport sqrt

cdef void differentiate_vectors(AnyMemory* m, Py_ssize_t dim, Number h) noexcept nogil
cdef void add_ends(AnyMemory* m, Py_ssize_t dim) noexcept nogil
cdef void add_springs(AnyMemory* m, Py_ssize_t dim, Number h) noexcept nogil
cdef void add_ropes(AnyMemory* m, Py_ssize_t dim, Number h) noexcept nogil
cdef void _differentiate_angle(AnyMemory* m, Py_ssize_t dim, Number h, Py_ssize_t w, double tension) noexcept nogil
cdef void add_stiffness(AnyMemory* m, Py_ssize_t dim, Number h, Number value, Py_ssize_t p, Py_ssize_t q) noexcept nogil
cdef void _add_change(AnyMemory* m, Py_ssize_t dim, Py_ssize_t row, Number left, Py_ssize_t v, Py_ssize_t other) noexcept nogil
cdef void add_products(AnyMemory* m, Py_ssize_t dim, Number h) noexcept nogil
cdef void add_constraints(AnyMemory* m, Py_ssize_t dim, Number h, Vec before, Vec after) noexcept nogil
cdef void add_rolling(AnyMemory* m, Py_ssize_t dim, Number h) noexcept nogil
cdef void _add_row(AnyMemory* m, Py_ssize_t dim, Py_ssize_t row, Py_ssize_t p, double mean, Number last) noexcept nogil
cdef void _add_spins(AnyMemory* m, Py_ssize_t dim) noexcept nogil
