cdef extern from "processor.hpp" namespace "flexph" nogil:
    bint has_avx2()
