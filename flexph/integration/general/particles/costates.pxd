from ....numerics.loops.views cimport fill
from .arrays cimport Space
from .lines cimport add_opposite, set_lines
from .springs cimport add_spring_forces, correction_factor, energy, potential_slope, secant, set_invariants

cdef void set_gonzalez_costate(Space* s, Py_ssize_t dim, double before) noexcept nogil
cdef void set_mean_value_costate(Space* s, Py_ssize_t dim, double before) noexcept nogil
cdef void set_invariants_costate(Space* s, Py_ssize_t dim, double before) noexcept nogil
cdef void set_secants_costate(Space* s, Py_ssize_t dim) noexcept nogil
