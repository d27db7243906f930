from ....numerics.loops.views cimport Vec, copy, fill, flat, larger
from ..mechanics.forces cimport subtract_loads
from ..mechanics.residual cimport add_stresses_and_damping
from ..mechanics.rolling cimport term_increment
from ..memory.memory cimport Memory
from ..memory.memory cimport stage
from ..memory.structures cimport AtNodes
from ..steps.iterate cimport reference_length
from ..terms.nodes cimport cross_product
from .nodes cimport add_field, row_of
from .scheme cimport Scheme
from libc.math cimport fabs

cdef double NEWTON_BALANCED

cdef void begin(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void balance(Memory* m, Py_ssize_t dim, Scheme& g, double h, AtNodes given) noexcept nogil
cdef void _rate_inertia(Memory* s, Py_ssize_t dim) noexcept nogil
cdef void _set_changes(Memory* m, Py_ssize_t dim, Scheme& g, double h, Py_ssize_t i) noexcept nogil
cdef void _set_translation_defect(Memory* m, Scheme& g, double h, Py_ssize_t i) noexcept nogil
cdef void _set_rotation_defect(Memory* s, Py_ssize_t dim, double h) noexcept nogil
cdef void _set_spatial_rotation_defect(Memory* s, double h, Py_ssize_t b) noexcept nogil
cdef void _set_shape_defect(Memory* s, Py_ssize_t dim, double h) noexcept nogil
cdef void _add_inertia_correction(Py_ssize_t dim, Scheme& g, double h, Py_ssize_t i) noexcept nogil
cdef void _set_constraint_defects(Memory* m, Memory* s, Py_ssize_t dim, double h, AtNodes given, Py_ssize_t i) noexcept nogil
cdef bint is_balanced(Memory* m, Scheme& g, double h) noexcept nogil
cdef bint _momenta_balance(Memory* s, double h) noexcept nogil
cdef bint _constraints_hold(Memory* s, double length) noexcept nogil
cdef void constraint_rates(Memory* s, Py_ssize_t dim, Vec coefficient) noexcept nogil
