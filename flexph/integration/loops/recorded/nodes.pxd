from ....numerics.loops.recorded cimport Recorded, RMat, RTen, RVec
from ....numerics.loops.views cimport IVec, Mat, Ten, Vec
from ..gauss.scheme cimport Scheme
from ..memory.structures cimport GaussTable
from .backward cimport Backward

cdef struct RecordedScheme:
    IVec stages
    Vec nodes
    Vec weights
    Mat a
    Mat inverse
    Vec ends
    Ten curvature
    Mat between
    Mat projection
    Vec point_weights
    RTen transport
    RVec driven

cdef struct RecordedDeformed:
    RVec u
    RMat mean
    RMat products

cdef struct RecordedMomenta:
    RMat p_r
    RVec p_u

cdef struct RecordedGiven:
    Recorded h
    RVec inputs
    RVec before
    RVec after
    RVec offset
    RVec last_offset
    RVec coefficient_rate
    RVec offset_rate
    bint moves

cdef struct RecordedNodes:
    RMat coefficient
    RMat coefficient_rate
    RMat offset_rate
    RMat inputs
    RMat moved
    RMat factor
    RMat factor_rate
    RMat factor_end
    Py_ssize_t first

cdef struct Collocated:
    Backward run
    Scheme scheme
    RecordedScheme recorded
    RecordedNodes nodes
    RVec coefficient
    RVec offset
    GaussTable table
    Mat given
    Mat by_given
    RVec given_cells
    Vec spaces
    RVec space_cells
    RVec defect
