# Functions of a user that loops call (see functions.hpp); their twin where loops run uncompiled is functions.py.
cdef extern from "functions.hpp" namespace "flexph" nogil:
    double call_real(Py_ssize_t, double)
    double call_three(Py_ssize_t, double, double, double)
