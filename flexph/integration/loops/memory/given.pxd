from .structures cimport Given, Table

cdef Given given_of(Table table, Py_ssize_t k) noexcept nogil
cdef Given given_over(Table table, Py_ssize_t k, double h) noexcept nogil
