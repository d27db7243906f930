from ....numerics.loops.views cimport Number
from ....numerics.loops.views cimport Vec as AnyVec
from ....numerics.loops.views cimport copy, get, put, divided
from ..memory.memory cimport Memory
from ..memory.memory cimport Memory as AnyMemory
from ..nodal.points cimport add_point_masses
from ..terms.border cimport add
from .residual cimport turn_strain_rows

cdef void add_flexible(AnyMemory* m, Py_ssize_t dim, Number h) noexcept nogil
cdef void _add_stresses(AnyMemory* m, Number h, AnyVec F) noexcept nogil
cdef double _mean_spin(AnyMemory* m, int decay, Py_ssize_t b, Py_ssize_t i) noexcept nogil
cdef void turn_bodies(AnyMemory* m, Py_ssize_t dim, int decay, Number h) noexcept nogil
cdef void add_rigid(AnyMemory* m, Py_ssize_t dim, int decay, Number h) noexcept nogil
cdef void start_spin(AnyMemory* m, Py_ssize_t dim, int decay, Number h, Py_ssize_t b) noexcept nogil
cdef void _couple_coordinate(AnyMemory* m, Py_ssize_t dim, Number h, Py_ssize_t b, Py_ssize_t i) noexcept nogil
cdef void _couple_shift(AnyMemory* m, Py_ssize_t dim, Number h, Py_ssize_t b) noexcept nogil
cdef void _add_spin(AnyMemory* m, Py_ssize_t dim, Number h, Py_ssize_t b) noexcept nogil
