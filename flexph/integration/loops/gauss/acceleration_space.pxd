from ....numerics.loops.views cimport Mat, Vec

cdef struct Acceleration:
    Vec weight
    Vec x
    Vec correction
    Vec last
    Mat moves
    Mat changes
