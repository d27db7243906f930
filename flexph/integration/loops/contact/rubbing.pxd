from ....kernels.surfaces.segments cimport FIRST
from ....numerics.loops.views cimport Mat, Vec, larger
from ..memory.memory cimport Memory
from ..terms.spring_laws cimport factor_at
from .gaps cimport dot, sine_of_tilt
from libc.math cimport fabs, sqrt

cdef double CLEARLY
cdef Py_ssize_t FACE
cdef Py_ssize_t FRICTIONS
cdef Py_ssize_t OFFSET
cdef Py_ssize_t RIM
cdef Py_ssize_t SEGMENTS
cdef Py_ssize_t SHAPE
cdef Py_ssize_t SURFACES
cdef double TINY

cdef void set_contact_slip(Memory* m, Py_ssize_t dim, Py_ssize_t c, double h) noexcept nogil
cdef void _set_surface_velocity(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef void _set_rim_arms(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef void _set_segment_arms(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef void _set_face_arms(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef void _tangents(Vec normal, Mat tangent) noexcept nogil
cdef void _set_rotation(Memory* m, Py_ssize_t dim, Py_ssize_t b, double h, Vec out) noexcept nogil
cdef double moment(Py_ssize_t dim, Vec arm, Vec force, Py_ssize_t i) noexcept nogil
cdef double friction_coefficient(Memory* m, Py_ssize_t c) noexcept nogil
cdef void set_friction(Memory* m, Py_ssize_t dim, Py_ssize_t c, double h) noexcept nogil
cdef void _set_anchored_friction(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef double _length(Py_ssize_t dim, Vec a) noexcept nogil
cdef void _turn_anchor(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
