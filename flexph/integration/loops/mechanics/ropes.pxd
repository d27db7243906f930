from ....numerics.loops.views cimport fill
from ..memory.memory cimport Memory
from ..terms.angles cimport kappa
from ..terms.product_rows cimport add_block, add_product, begin_rows
from ..terms.ropes cimport span_curvature
from .couplings cimport add_stiffness
from .springs cimport rope_stiffness
from libc.math cimport sqrt

cdef void add_ropes(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _differentiate_angle(Memory* m, Py_ssize_t dim, double h, Py_ssize_t w, double tension) noexcept nogil
