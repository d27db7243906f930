from ....numerics.loops.views cimport larger
from ..contact.flight cimport passes_through
from ..contact.gaps cimport gap_of, place_vectors, turned_gap
from ..memory.memory cimport Memory
from ..steps.iterate cimport coordinate_size
from libc.math cimport fabs
from ..steps.rows cimport fail

cdef Py_ssize_t PASSED

cdef Py_ssize_t ENTERS
cdef Py_ssize_t OPEN
cdef Py_ssize_t TOUCHES
cdef Py_ssize_t CLOSES
cdef double ACROSS
cdef Py_ssize_t ANGLE
cdef double DEEP
cdef double TOUCHING

cdef Py_ssize_t mark_overlaps(Memory* m, Py_ssize_t dim, Py_ssize_t mark) noexcept nogil
cdef double gap_at_end(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef double _size_at_end(Memory* m) noexcept nogil
cdef bint may_close(Memory* m) noexcept nogil
