# Structures of views from tuples of arrays (see binding.hpp).
cdef extern from "binding.hpp" namespace "flexph":
    int bind[T](T&, object) except -1
