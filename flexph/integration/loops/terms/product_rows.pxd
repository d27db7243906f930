from ....numerics.loops.views cimport row_product
from ..memory.memory cimport Memory
from .border cimport add

cdef void begin_rows(Memory* m) noexcept nogil
cdef void _list_column(Memory* m, Py_ssize_t column) noexcept nogil
cdef void add_product(Memory* m, Py_ssize_t dim, Py_ssize_t p) noexcept nogil
cdef void add_block(Memory* m, Py_ssize_t acting, Py_ssize_t moved, double value) noexcept nogil
cdef void add_pair(Memory* m) noexcept nogil
cdef void add_to_row(Memory* m, Py_ssize_t row, Py_ssize_t moved, double value) noexcept nogil
cdef void add_to_column(Memory* m, Py_ssize_t column, Py_ssize_t acting, double value) noexcept nogil
