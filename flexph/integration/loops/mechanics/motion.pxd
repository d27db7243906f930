from ....numerics.loops.views cimport Mat, Ten, Vec, call_one, combine, combine_two, copy
from ..memory.memory cimport Memory
from ..memory.structures cimport Deformed, Momenta
from ..nodal.points cimport move_means, place_means
from ..terms.nodes cimport cross_product

cdef void inertia_products(Memory* m, Py_ssize_t dim, Vec u, Mat space, Mat out) noexcept nogil
cdef void _products(Memory* m, Py_ssize_t dim, bint both, Deformed& one, Deformed& other) noexcept nogil
cdef void call_large_products(Memory* m, Py_ssize_t request, Vec u) noexcept nogil
cdef void mean_shapes(Memory* m, Py_ssize_t dim, Vec u, Mat out) noexcept nogil
cdef void momenta(Memory* m, Py_ssize_t dim, Mat w, Deformed& at, Deformed& moved, Momenta& out) noexcept nogil
cdef void node_arms(Memory* m, Py_ssize_t dim, Ten R, Vec u, Mat space, Mat arm) noexcept nogil
cdef void vectors(Memory* m, Py_ssize_t dim, Mat r, Mat arm, Mat out, Vec product) noexcept nogil
cdef void _vectors(Memory* m, Py_ssize_t dim, Mat r, Mat arm, Mat out, Vec product) noexcept nogil
cdef void derive(Memory* m, Py_ssize_t dim, Mat space) noexcept nogil
cdef void derive_momenta(Memory* m, Py_ssize_t dim, Mat space) noexcept nogil
cdef double product_rate(Memory* m, Py_ssize_t dim, Py_ssize_t p, Mat others) noexcept nogil
cdef void mean_speeds(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void node_speeds(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void _turn_arm(Memory* m, Py_ssize_t dim, Vec w, Vec arm) noexcept nogil
cdef void node_speed(Memory* m, Py_ssize_t dim, Py_ssize_t n, Vec v, Vec du) noexcept nogil
