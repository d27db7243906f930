from ....numerics.loops.recorded cimport RMat, RTen
from ....numerics.loops.views cimport IMat, IVec

cdef struct RecordedSurfaces:
    RMat half
    IVec root
    IVec signed
    RMat low
    RMat high
    IVec skip
    IMat cells
    RTen corner
    IMat feature
    RMat outward
