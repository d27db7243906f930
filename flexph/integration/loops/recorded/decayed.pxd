from ....numerics.loops.recorded cimport RVec
from ....numerics.loops.views cimport Mat, Vec
from .backward cimport Backward

cdef struct Decayed:
    Backward run
    Mat given
    Mat by_given
    RVec given_cells
    RVec inputs
    RVec coefficient_rate
    RVec offset_rate
    RVec matrices
    Vec by_matrices
    RVec defect
