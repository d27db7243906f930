from ...numerics.loops.views cimport IMat, IVec, Mat, Ten, Vec

cdef struct Island:
    Py_ssize_t first
    Py_ssize_t contacts
    Py_ssize_t rows
    double scale
    Py_ssize_t bodies
    Py_ssize_t reach

cdef struct LawSpace:
    Vec D
    Vec b
    Vec given
    Vec x
    Vec y
    Vec kept
    Vec moved
    Vec point
    Vec matrix
    IVec whole
    Vec vectors
    Ten turning
    Mat along
    IVec state
    IVec ptr
    IVec col
    IVec order
    Vec by_contact
    IMat place
    IMat side
    Ten rate
    Ten answer
    Vec band
    IVec pivot
    IVec made
    Vec steps
    Ten kept_gain
    Ten gain
    Vec pull
    Vec z
    Mat of_bodies
    Mat pairs
