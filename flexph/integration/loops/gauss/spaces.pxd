from ....numerics.loops.views cimport Mat, Vec

cdef struct Acceleration:
    Vec weight
    Vec x
    Vec correction
    Vec last
    Mat moves
    Mat changes

cdef struct Damped:
    Vec x
    Vec tried
    Vec defect
    Vec other
    Vec reach
    Vec row_scale
    Vec column_scale
    Mat jacobian
    Mat stacked
    Vec correction
    Vec gain
    Vec space
