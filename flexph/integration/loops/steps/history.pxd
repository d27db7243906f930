from ....numerics.loops.views cimport Mat, Vec, copy, entries, fill, get, larger_int, part, put
from ..memory.memory cimport Memory
from libc.math cimport fabs

cdef Py_ssize_t HISTORY
cdef double LEAST_SPACING
cdef double WEIGHT_LIMIT

cdef void guess(Memory* m, Py_ssize_t dim, double h, Py_ssize_t known) noexcept nogil
cdef bint _predict_alternating(Mat memory, double h, Mat basis, Vec velocities) noexcept nogil
cdef void _eliminate(Mat A) noexcept nogil
cdef (Py_ssize_t, Py_ssize_t, double) _nearest(Mat memory, double h, Py_ssize_t known) noexcept nogil
cdef void remember(Memory* m, double h, Py_ssize_t known) noexcept nogil
