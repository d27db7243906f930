from ...numerics.loops.views cimport IMat, IVec, Mat, Ten

cdef struct Surfaces:
    Mat half
    IVec root
    IVec signed
    Mat low
    Mat high
    IVec skip
    IMat cells
    Ten corner
    IMat feature
    Mat outward
