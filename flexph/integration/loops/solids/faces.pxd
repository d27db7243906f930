from ....numerics.loops.views cimport Mat, Vec
from ..memory.memory cimport Memory
from ..terms.nodes cimport cross_product
from .places cimport lever
from libc.math cimport sqrt

cdef void add_face_forces(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void _tangents(Memory* m, Py_ssize_t dim, Py_ssize_t q) noexcept nogil
cdef double _size(Vec x) noexcept nogil
cdef void _unit_forces(Memory* m, Py_ssize_t dim, Py_ssize_t q) noexcept nogil
cdef double face_output(Memory* m, Py_ssize_t dim, Py_ssize_t q, Py_ssize_t c) noexcept nogil
cdef void _speed(Memory* m, Py_ssize_t dim, Py_ssize_t k, Vec out) noexcept nogil
cdef void add_slopes(Memory* m, Py_ssize_t dim, Py_ssize_t q) noexcept nogil
cdef double _skew_entry(Vec x, Py_ssize_t i, Py_ssize_t j) noexcept nogil
cdef void _add_skew(Mat A, Vec x, double factor) noexcept nogil
cdef void face_block(Memory* m, Py_ssize_t dim, Py_ssize_t one, Py_ssize_t other) noexcept nogil
