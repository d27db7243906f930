from ....numerics.loops.views cimport Mat
from ..memory.memory cimport Memory
from .gaps cimport dot, gap_of, place_vectors, turned_gap
from libc.math cimport M_PI, fabs, sqrt

cdef double INSIDE
cdef Py_ssize_t ANGLE
cdef Py_ssize_t AXIAL
cdef double DEEP
cdef Py_ssize_t DISTANCE
cdef double TOUCHING

cdef bint touches(Memory* m, Py_ssize_t dim, double size) noexcept nogil
cdef bint closes(Memory* m, Py_ssize_t dim, double size) noexcept nogil
cdef bint turns_away(Memory* m) noexcept nogil
cdef bint passes(Memory* m, Py_ssize_t dim, Py_ssize_t c, double deep) noexcept nogil
cdef double _across(Mat vector, double along, Py_ssize_t i) noexcept nogil
