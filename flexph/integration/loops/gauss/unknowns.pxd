from ....numerics.loops.views cimport Vec, entries, fill, flat, get, larger, put
from ..memory.memory cimport stage
from .scheme cimport Scheme
from libc.math cimport fabs

cdef double TINY

cdef void gather(Scheme& g, bint mixed, Vec x) noexcept nogil
cdef void subtract(Scheme& g, bint mixed, Vec x, Vec correction) noexcept nogil
cdef Py_ssize_t _read(Vec field, Py_ssize_t first, Vec x) noexcept nogil
cdef Py_ssize_t _write(Vec field, Py_ssize_t first, Vec x, Vec correction) noexcept nogil
cdef void set_weights(Scheme& g, bint mixed, double energy, Vec weight) noexcept nogil
cdef Py_ssize_t _fill(Vec weight, Py_ssize_t first, Py_ssize_t count, double value) noexcept nogil
