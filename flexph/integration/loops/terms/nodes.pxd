from ....numerics.loops.views cimport Number
from ....numerics.loops.views cimport Vec
from ....numerics.loops.views cimport Vec as AnyVec
from ..memory.memory cimport Memory
from ..memory.memory cimport Memory as AnyMemory

cdef void cross_product(AnyVec a, Vec b, AnyVec out) noexcept nogil
cdef Py_ssize_t differentiate_node(AnyMemory* m, Py_ssize_t dim, Number h, Py_ssize_t n, double sign, Py_ssize_t row) noexcept nogil
cdef void _write_body_rows(AnyMemory* m, Py_ssize_t dim, Number h, Py_ssize_t n, double sign, Py_ssize_t row) noexcept nogil
cdef void _write_frame_rows(AnyMemory* m, Py_ssize_t dim, Number h, double weight, Py_ssize_t row) noexcept nogil
cdef void _write_spin_row(AnyMemory* m, Py_ssize_t dim, Py_ssize_t n, Py_ssize_t a, double sign, Py_ssize_t row) noexcept nogil
cdef void _write_coordinate_row(AnyMemory* m, Py_ssize_t dim, Number h, (Py_ssize_t, Py_ssize_t) entry, double sign, Py_ssize_t row) noexcept nogil
