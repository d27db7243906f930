from ....numerics.loops.views cimport CMat, CVec, IVec, Mat, Ten, Vec

from .spaces cimport Acceleration, Damped

cdef struct Scheme:
    IVec stages
    IVec real
    IVec pairs
    Vec nodes
    Vec weights
    Mat a
    Mat inverse
    Vec ends
    Ten curvature
    Mat between
    Mat projection
    Vec point_weights
    CVec eigenvalue
    CMat left
    CMat right
    Ten transport
    Vec driven
    Acceleration acceleration
    Damped damped
