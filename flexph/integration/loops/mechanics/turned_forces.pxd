from ....numerics.loops.views cimport Number
from ....numerics.loops.views cimport Vec, fill
from ....numerics.loops.views cimport Vec as AnyVec
from ..memory.memory cimport Memory
from ..memory.memory cimport Memory as AnyMemory
from ..terms.border cimport add
from ..terms.nodes cimport cross_product

cdef void add_turned_forces(AnyMemory* m, Py_ssize_t dim, Number h) noexcept nogil
cdef void _add_couples(AnyMemory* m, Py_ssize_t dim, Number h) noexcept nogil
cdef void _move_arm(AnyMemory* m, Py_ssize_t dim, Number h, Py_ssize_t n, Py_ssize_t a) noexcept nogil
cdef void _add_torque(AnyMemory* m, Py_ssize_t dim, Number h, Py_ssize_t n, Py_ssize_t a) noexcept nogil
cdef void _turn_force(AnyMemory* m, Py_ssize_t dim, Number h, Py_ssize_t n) noexcept nogil
cdef void _turn_section(AnyMemory* m, Py_ssize_t dim, Number h, Py_ssize_t n) noexcept nogil
cdef void _turn_to_body(AnyMemory* m, Py_ssize_t dim, Py_ssize_t b, Vec x) noexcept nogil
cdef void _axis_product(Py_ssize_t dim, Py_ssize_t a, AnyVec x, AnyVec out) noexcept nogil
cdef void add_following(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _turn_component(Memory* m, Py_ssize_t dim, double h, Py_ssize_t given, (Py_ssize_t, Py_ssize_t) place, double weight) noexcept nogil
cdef void _add_node_force(Memory* m, Py_ssize_t dim, (Py_ssize_t, Py_ssize_t) component, Py_ssize_t spin, Py_ssize_t column, double value) noexcept nogil
cdef void _add_section_torque(Memory* m, Py_ssize_t dim, Py_ssize_t t, Py_ssize_t i, Py_ssize_t column, double value) noexcept nogil
