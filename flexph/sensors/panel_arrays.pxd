# C structs of the named tuples of panel_arrays.py, which hold the meaning of their fields.
from ..numerics.loops.views cimport IMat, IVec, Mat, Ten, Vec

cdef struct Rows:
    Vec data
    IVec indices
    IVec starts

cdef struct PanelArrays:
    IMat offset
    IVec flexible
    Mat position
    Vec moves
    Rows shape
    Rows incidence
    Mat fixed
    IMat product
    IVec length
    IVec component
    IVec sine
    IVec cosine
    Ten node
    Ten vector
    Mat value

cdef struct SensorMemory:
    PanelArrays arrays
    Vec state
    Mat out
