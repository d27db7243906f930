from ....numerics.loops.views cimport Mat, Ten, Vec
from .backward cimport Backward

cdef struct Forward:
    Backward run
    Ten states
    Ten by_coefficient
    Ten by_offset
    Ten by_inputs
    Ten by_moved
    Mat by_constants
    Mat by_times
    Vec unknowns
    Vec audit
