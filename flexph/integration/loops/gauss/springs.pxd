from ....numerics.loops.views cimport larger
from ..mechanics.forces cimport set_constraint_forces
from ..memory.memory cimport Memory
from ..memory.memory cimport stage
from ..memory.structures cimport AtNodes
from ..terms.ropes cimport add_rope_forces, span_slope
from ..terms.spring_laws cimport energy_defect, force_defect, law_value, slope_at, factor_at, user_force
from .nodes cimport row_of
from .scheme cimport Scheme
from libc.math cimport INFINITY, atan2, fabs, sqrt

cdef double ROUND_OFF
cdef Py_ssize_t SUBSTITUTIONS
cdef double TINY
cdef double LENGTH
cdef Py_ssize_t FACTORS

cdef void set_product_forces(Memory* m, Scheme& g, double h, AtNodes given) noexcept nogil
cdef void _measure_length(Memory* m, Scheme& g, double h, Py_ssize_t k) noexcept nogil
cdef void _measure_angle(Memory* s, Py_ssize_t k, Py_ssize_t angle) noexcept nogil
cdef void _extension_at_node(Memory* m, Scheme& g, double h, Py_ssize_t k) noexcept nogil
cdef void set_prescribed_rates(Memory* m, Scheme& g, AtNodes given) noexcept nogil
cdef double _extension_at_point(Memory* m, Scheme& g, double h, Py_ssize_t k, Py_ssize_t q) noexcept nogil
cdef double _factor(Memory* m, AtNodes given, Py_ssize_t k, Py_ssize_t q) noexcept nogil
cdef double _work_of_factor(Memory* m, Scheme& g, double h, Py_ssize_t k, AtNodes given) noexcept nogil
cdef void add_works_of_factors(Memory* m, Scheme& g, double h, AtNodes given) noexcept nogil
cdef void _project(Memory* m, Scheme& g, double h, Py_ssize_t k, AtNodes given) noexcept nogil
cdef void slopes_of_laws(Memory* m, Scheme& g, double h, AtNodes given) noexcept nogil
cdef void _add_tension(Memory* m, Scheme& g, double h, Py_ssize_t k, Py_ssize_t i) noexcept nogil
cdef void _measure_rope(Memory* m, Scheme& g, double h, Py_ssize_t k, Py_ssize_t r) noexcept nogil
cdef void _add_span(Memory* m, Scheme& g, double h, Py_ssize_t k, Py_ssize_t span) noexcept nogil
cdef void _add_angle(Memory* m, Scheme& g, double h, Py_ssize_t k, Py_ssize_t angle) noexcept nogil
cdef double _angle_rate(Memory* s, Py_ssize_t angle) noexcept nogil
cdef double _gain(double missed, double squares, double size) noexcept nogil
cdef double _rope_damping(Memory* s, Py_ssize_t k, double x) noexcept nogil
cdef void _set_rope_slopes(Memory* s, Py_ssize_t k) noexcept nogil
