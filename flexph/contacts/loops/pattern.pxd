from ...numerics.algebra.elimination cimport DENSE
from ...numerics.loops.views cimport IVec, Mat

cdef Py_ssize_t FEW

cdef void find_entries(Mat D, IVec ptr, IVec col) noexcept nogil
cdef void find_order(IVec ptr, IVec col, IVec order, IVec left, Mat acts) noexcept nogil
cdef void _find_neighbours(IVec ptr, IVec col, IVec left, Mat acts) noexcept nogil
cdef void _eliminate(IVec order, Py_ssize_t n, IVec left, Mat acts) noexcept nogil
