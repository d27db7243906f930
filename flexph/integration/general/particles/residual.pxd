from libc.math cimport fabs

from ....numerics.loops.views cimport copy, fill, larger, part
from .arrays cimport Space
from .costates cimport set_gonzalez_costate, set_invariants_costate, set_mean_value_costate, set_secants_costate
from .dampers cimport add_damper_forces
from .lines cimport add_opposite, component, relative, set_lines
from .springs cimport add_spring_forces

cdef Py_ssize_t BY_GONZALEZ, BY_INVARIANTS, BY_MEAN_VALUE, BY_SECANTS
cdef double ROUNDED, LEFT_OVER

cdef void set_residual(
    Space* s, Py_ssize_t dim, Py_ssize_t kind, Py_ssize_t k, double h, double before
) noexcept nogil
cdef void set_rod_shares(Space* s, Py_ssize_t dim) noexcept nogil
cdef void set_flows(Space* s, Py_ssize_t dim, Py_ssize_t k, double h) noexcept nogil
