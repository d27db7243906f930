from ....numerics.loops.views cimport larger
from ....numerics.loops.functions cimport call_real
from ..memory.memory cimport Memory
from ..memory.memory cimport Memory as AnyMemory
from ..terms.spring_laws cimport factor_at
from libc.math cimport exp, fabs, tanh

cdef Py_ssize_t COULOMB
cdef double DIFFERENCE
cdef Py_ssize_t GENERAL
cdef Py_ssize_t QUADRATIC
cdef Py_ssize_t RELATIONS
cdef Py_ssize_t VISCOUS

cdef double mean_time_factor(AnyMemory* m, Py_ssize_t i) noexcept nogil
cdef double force(Memory* m, Py_ssize_t i, double s) noexcept nogil
cdef double slope_at_rest(AnyMemory* m, Py_ssize_t i) noexcept nogil
cdef double _force(Memory* m, Py_ssize_t i, double s) noexcept nogil
cdef double _slope(AnyMemory* m, Py_ssize_t i, double s) noexcept nogil
cdef double slope(AnyMemory* m, Py_ssize_t i, double s) noexcept nogil
cdef void store_extensions(Memory* m) noexcept nogil
cdef bint mark_sticking(Memory* m, double h) noexcept nogil
cdef bint generates_energy(Memory* m, double h) noexcept nogil
