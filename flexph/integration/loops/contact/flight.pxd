from ....numerics.loops.views cimport Mat
from ..memory.memory cimport Memory
from .gaps cimport dot, place_vectors
from libc.math cimport M_PI, fabs, sqrt

cdef Py_ssize_t ANGLE
cdef Py_ssize_t AXIAL
cdef double DEEP
cdef Py_ssize_t DISTANCE

cdef bint turns_beyond_stop(Memory* m) noexcept nogil
cdef bint passes_through(Memory* m, Py_ssize_t dim, Py_ssize_t c, double deep) noexcept nogil
cdef double _component_across(Mat vector, double along, Py_ssize_t i) noexcept nogil
