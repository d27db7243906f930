from ...numerics.loops.views cimport Mat

cdef double eliminate(Mat A) noexcept nogil
