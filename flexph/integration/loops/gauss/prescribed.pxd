from ....numerics.loops.views cimport Mat
from ..memory.structures cimport AtNodes

cdef Py_ssize_t row_of(Mat values, AtNodes given, Py_ssize_t i) noexcept nogil
