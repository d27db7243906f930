from ....numerics.loops.views cimport IMat, Mat, Vec

cdef double component(IMat ends, Mat offsets, Py_ssize_t k, Py_ssize_t dim, Vec q, Py_ssize_t j) noexcept nogil
cdef double relative(IMat ends, Py_ssize_t k, Py_ssize_t dim, Py_ssize_t shift, Vec v, Py_ssize_t j) noexcept nogil
cdef void add_opposite(
    IMat ends, Py_ssize_t k, Py_ssize_t dim, Vec out, Py_ssize_t j, double value
) noexcept nogil
cdef void set_lines(IMat ends, Mat offsets, Py_ssize_t dim, Vec q, Mat out) noexcept nogil
cdef void add_block(
    IMat ends, Py_ssize_t k, Py_ssize_t dim, Mat matrix, (Py_ssize_t, Py_ssize_t) entry, double value
) noexcept nogil
