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
    Mat states
    Ten out

cdef struct GradientMemory:
    PanelArrays arrays
    Mat states
    IVec which
    Mat by_product
    Ten by_vector
    Ten by_node
    Mat arm
    Mat by_arm
    Mat out
