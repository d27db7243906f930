from ....numerics.loops.views cimport larger, smaller
from ....numerics.loops.functions cimport call_real, call_three
from ..memory.memory cimport Memory as AnyMemory
from libc.math cimport fabs

cdef double law_value(AnyMemory* m, Py_ssize_t k, Py_ssize_t order, double x) noexcept nogil
cdef double mean_force(AnyMemory* m, Py_ssize_t k, double before, double after) noexcept nogil
cdef double mean_slope(AnyMemory* m, Py_ssize_t k, double before, double after) noexcept nogil
cdef double factor_at(AnyMemory* m, Py_ssize_t kind, Py_ssize_t i, Py_ssize_t end) noexcept nogil
cdef double mean_factor(AnyMemory* m, Py_ssize_t i) noexcept nogil
cdef double last_factor(AnyMemory* m, Py_ssize_t i) noexcept nogil
cdef double work_of_factor(AnyMemory* m, Py_ssize_t i, double before, double after) noexcept nogil
cdef double row_factor(AnyMemory* m, Py_ssize_t e, Py_ssize_t end) noexcept nogil
cdef double user_force(AnyMemory* m, Py_ssize_t i, double x, double rate) noexcept nogil
cdef double user_slope(AnyMemory* m, Py_ssize_t i, double x0, double rate, double h) noexcept nogil
cdef double slope_at(AnyMemory* m, Py_ssize_t i, double x, double rate, Py_ssize_t along) noexcept nogil
cdef Py_ssize_t _piece_at(AnyMemory* m, Py_ssize_t k, double x) noexcept nogil
cdef double _piece_value(AnyMemory* m, Py_ssize_t piece, Py_ssize_t order, double x) noexcept nogil
cdef double _piece_mean(AnyMemory* m, Py_ssize_t k, Py_ssize_t order, double before, double change) noexcept nogil
cdef double _function_mean(AnyMemory* m, Py_ssize_t k, double before, double change) noexcept nogil
cdef double force_defect(AnyMemory* m, Py_ssize_t k, double before, double after, double done, double size) noexcept nogil
cdef double energy_defect(double first, double last, double done, double size) noexcept nogil
cdef double _defect(AnyMemory* m, Py_ssize_t k, double before, double change, double mean) noexcept nogil
