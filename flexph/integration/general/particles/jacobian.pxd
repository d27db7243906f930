from libc.math cimport sqrt

from ....numerics.loops.views cimport fill
from .arrays cimport Space
from .dampers cimport add_damper_forces, resistance, resistance_slope
from .factors cimport factor, solve
from .lines cimport add_block, add_opposite, component, relative
from .springs cimport correction_factor, energy, potential_curvature, potential_slope, secant, secant_slope

cdef Py_ssize_t BY_GONZALEZ, BY_SECANTS, OF_DRAG

cdef bint assemble(Space* s, Py_ssize_t dim, Py_ssize_t kind, double h, double before) noexcept nogil
cdef void add_position_columns(Space* s, Py_ssize_t dim, Py_ssize_t kind, double h) noexcept nogil
cdef void add_secant_stiffness(Space* s, Py_ssize_t dim, Py_ssize_t k, double h) noexcept nogil
cdef void add_damper_slopes(Space* s, Py_ssize_t dim, Py_ssize_t k, double h) noexcept nogil
cdef void add_damper_rate_slope(
    Space* s, Py_ssize_t dim, Py_ssize_t k, double h, (Py_ssize_t, Py_ssize_t) entry, double value
) noexcept nogil
cdef void add_velocity_columns(Space* s, Py_ssize_t dim, double h, double ratio) noexcept nogil
cdef double velocity_share(Space* s, Py_ssize_t place, double ratio) noexcept nogil
cdef void add_resistance(
    Space* s, Py_ssize_t dim, Py_ssize_t k, double ratio, (Py_ssize_t, Py_ssize_t) entry, double value
) noexcept nogil
cdef double set_gonzalez_term(Space* s, Py_ssize_t dim, double h, double before) noexcept nogil
