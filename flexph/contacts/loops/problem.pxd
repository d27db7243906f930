from ...numerics.loops.views cimport IMat, IVec, Mat, Ten, Vec

cdef struct Chain:
    Py_ssize_t half
    Mat band
    IVec pivot
    IVec made
    Ten kept_gain
    Ten gain
    Vec pull
    Vec z
    Vec other
    Mat vectors
    IVec state
    Mat pairs

cdef struct Cone:
    Mat D
    Vec b
    Vec friction
    Vec normal_step
    Vec tangent_step
    double scale
    IVec ptr
    IVec col
    IVec order

cdef struct Coupled:
    IMat side
    Ten rate
    Ten answer
    Vec b
    Vec given
    Vec friction
    Vec normal_step
    Vec tangent_step
    double scale
    Py_ssize_t rows

cdef struct Space:
    Mat matrix
    IVec pivot
    IVec own
    IVec place
    IVec entries
    Vec x
    Vec change
    Vec best
    Vec kept
    Vec unknown
    Vec rates
    Vec missed
    Vec right
    Ten turning
    Mat along
    IVec state
    Mat pairs

cdef struct Side:
    Coupled problem
    Chain space
    Py_ssize_t second

cdef fused AnyLaws:
    Cone
    Coupled
