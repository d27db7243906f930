from ....numerics.loops.views cimport fill
from ..memory.memory cimport Memory
from ..memory.striking cimport Striking
from ..steps.history cimport guess
from ..steps.iterate cimport coordinate_size
from ..strikes.bearings cimport mark_bearings
from ..strikes.bodies cimport are_apart
from ..strikes.closing cimport solve_closing
from ..strikes.time_data cimport request_data, data_between
from ..strikes.marks cimport CLOSES
from ..strikes.marks cimport mark_overlaps, may_close
from ..strikes.trial cimport solve_without_contacts
from ..memory.structures cimport Given, Prescribed
from ..steps.rows cimport fail

cdef Py_ssize_t CLOSING

cdef Py_ssize_t CLOSINGS
cdef Py_ssize_t CLOSED
cdef Py_ssize_t KNOWN
cdef Py_ssize_t OVER_PART
cdef double TOUCHING

cdef void begin_iterate(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef Py_ssize_t solve_part(Memory* m, Py_ssize_t dim, Striking& s, Given given) noexcept nogil
cdef Py_ssize_t close_all_marked(Memory* m, Py_ssize_t dim, Striking& s, Given given) noexcept nogil
cdef Py_ssize_t solve_between(Memory* m, Py_ssize_t dim, Striking& s, Prescribed p, (double, double) ends, bint closes) noexcept nogil
