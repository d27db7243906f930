from ....numerics.loops.views cimport Mat as AnyMat
from ....numerics.loops.views cimport Number
from ....numerics.loops.views cimport Vec, larger, real_part, divided
from ..memory.memory cimport Memory
from ..memory.memory cimport Memory as AnyMemory
from ..terms.angles cimport kappa
from ..terms.hysteresis cimport follow_path, path_slope
from ..terms.ropes cimport add_rope_forces, rope_change
from ..terms.spring_laws cimport mean_factor, mean_force, mean_slope, user_force, user_slope
from .relations cimport force, slope, slope_at_rest
from libc.math cimport atan2, sqrt

cdef double _rope_tension(Memory* m, Py_ssize_t i, double h, Vec e0) noexcept nogil
cdef double _rope_damping(AnyMemory* m, Py_ssize_t i, double h, Vec e0, double elastic) noexcept nogil
cdef Number rope_stiffness(AnyMemory* m, Py_ssize_t i, Number h) noexcept nogil
cdef Number stiffness(AnyMemory* m, Py_ssize_t i, Number h) noexcept nogil
cdef void tangent(AnyMemory* m, Py_ssize_t i, Number h, Vec before, Vec after, AnyMat out) noexcept nogil
cdef void set_tensions(Memory* m, double h, Vec before, Vec after, Vec e0) noexcept nogil
cdef double _tension(Memory* m, Py_ssize_t i, double h, Vec e0) noexcept nogil
