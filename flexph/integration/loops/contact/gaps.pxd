from ....kernels.surfaces.closest cimport GRADIENT, VALUE, mean_gradient, nearest
from ....kernels.surfaces.faces cimport PRODUCTS, closest_on_face
from ....kernels.surfaces.segments cimport BASE, FIRST, SECOND, SLOPE, SQUARE, closest_points, mean_slopes
from ....kernels.surfaces.surfaces cimport Surfaces
from ....numerics.loops.views cimport Mat, Vec, fill, larger
from ..memory.memory cimport Memory
from ..terms.angles cimport kappa
from libc.math cimport atan2, sqrt

cdef Py_ssize_t AXIAL
cdef Py_ssize_t DISTANCE
cdef Py_ssize_t FACE
cdef double FLAT
cdef Py_ssize_t OFFSET
cdef Py_ssize_t RIM
cdef Py_ssize_t SEGMENTS
cdef Py_ssize_t SHAPE
cdef double TINY

cdef double dot(Py_ssize_t dim, Vec a, Vec b) noexcept nogil
cdef void place_vectors(Memory* m, Py_ssize_t dim, Py_ssize_t c, Mat r, Mat arm, Mat out) noexcept nogil
cdef double gap_of(Memory* m, Py_ssize_t dim, Py_ssize_t c, Mat vector) noexcept nogil
cdef double find_surface(Memory* m, Py_ssize_t dim, Py_ssize_t c, Mat vector, Py_ssize_t end) noexcept nogil
cdef double find_segments(Memory* m, Py_ssize_t dim, Mat vector, Py_ssize_t end, double first, double second) noexcept nogil
cdef double find_face(Memory* m, Py_ssize_t dim, (Py_ssize_t, Py_ssize_t) at, Mat vector, double first, double second) noexcept nogil
cdef void _differentiate_face(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef void _differentiate_segments(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef void _differentiate_shape(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef double distance_along(Py_ssize_t dim, Mat vector, double along) noexcept nogil
cdef double sine_of_tilt(double q) noexcept nogil
cdef double turned_gap(Memory* m, Py_ssize_t dim, Py_ssize_t c, double before) noexcept nogil
cdef void differentiate_gap(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef (double, double, double) rim_weights(Py_ssize_t dim, Mat first, Mat last) noexcept nogil
cdef void _differentiate_rim(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef void _differentiate_axial(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef (double, double) axial_weights(Py_ssize_t dim, Mat first, Mat last) noexcept nogil
cdef void _differentiate_angle(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
