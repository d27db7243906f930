from ....numerics.loops.recorded cimport RVec
from ....numerics.loops.views cimport IVec, Mat, Vec
from ..memory.structures cimport Kinds, Table

cdef struct Cells:
    RVec space
    RVec constants
    RVec before
    RVec after
    RVec offset
    RVec inputs
    RVec length

cdef struct Backward:
    Kinds kinds
    Table table
    Mat states
    Mat means
    Mat by_state
    Mat by_unknown
    Mat by_coefficient
    Mat by_offset
    Mat by_inputs
    Mat by_moved
    Vec by_constants
    Vec by_times
    IVec varied
    Vec carried
    Vec adjoint
    Vec wanted
    Vec missed
    Mat dense
    IVec pivot
    IVec factored
    Vec covector
    Vec opposite
    Vec none
    Vec audit
    Vec plain
    Vec values
    Cells cells
