from ....numerics.loops.views cimport Number
from ....numerics.loops.views cimport row_product
from ..memory.memory cimport Memory as AnyMemory
from .border cimport add

cdef void begin_rows(AnyMemory* m) noexcept nogil
cdef void _list_column(AnyMemory* m, Py_ssize_t column) noexcept nogil
cdef void add_product(AnyMemory* m, Py_ssize_t dim, Py_ssize_t p) noexcept nogil
cdef void add_block(AnyMemory* m, Py_ssize_t acting, Py_ssize_t moved, Number value) noexcept nogil
cdef void add_pair(AnyMemory* m) noexcept nogil
cdef void add_to_row(AnyMemory* m, Py_ssize_t row, Py_ssize_t moved, Number value) noexcept nogil
cdef void add_to_column(AnyMemory* m, Py_ssize_t column, Py_ssize_t acting, Number value) noexcept nogil
