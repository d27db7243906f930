from ....numerics.loops.views cimport Mat, Vec, get, put
from ..memory.structures cimport AtNodes

cdef void add_field(double factor, Vec source, Vec target) noexcept nogil
cdef Py_ssize_t row_of(Mat values, AtNodes given, Py_ssize_t i) noexcept nogil
