from ..loops.views cimport IVec, Mat, Vec

cdef struct EliminatedEnd:
    Mat matrix
    IVec pivot
    Py_ssize_t half
    Py_ssize_t eliminated
    Vec x
