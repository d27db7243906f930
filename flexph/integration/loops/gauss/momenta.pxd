from ....numerics.loops.views cimport Vec, copy, fill, flat, larger
from ..mechanics.forces cimport act
from ..mechanics.residual cimport resist
from ..mechanics.rolling cimport gain
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
cdef void _change(Memory* m, Py_ssize_t dim, Scheme& g, double h, Py_ssize_t i) noexcept nogil
cdef void _translate(Memory* m, Scheme& g, double h, Py_ssize_t i) noexcept nogil
cdef void _turn(Memory* s, Py_ssize_t dim, double h) noexcept nogil
cdef void _turn_axes(Memory* s, double h, Py_ssize_t b) noexcept nogil
cdef void _bend(Memory* s, Py_ssize_t dim, double h) noexcept nogil
cdef void _curve(Py_ssize_t dim, Scheme& g, double h, Py_ssize_t i) noexcept nogil
cdef void _gap(Memory* m, Memory* s, Py_ssize_t dim, double h, AtNodes given, Py_ssize_t i) noexcept nogil
cdef bint is_balanced(Memory* m, Scheme& g, double h) noexcept nogil
cdef bint _balances(Memory* s, double h) noexcept nogil
cdef bint _closes(Memory* s, double length) noexcept nogil
cdef void constraint_rates(Memory* s, Py_ssize_t dim, Vec coefficient) noexcept nogil
