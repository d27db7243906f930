# Parts of a computation in threads (see threads.hpp); their twin where loops run uncompiled is threads.py.
cdef extern from "threads.hpp" namespace "flexph" nogil:
    void run_both(...)
