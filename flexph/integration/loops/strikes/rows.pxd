from ....numerics.loops.views cimport Mat, Vec, copy, fill, part
from ..contact.gaps cimport differentiate_gap, dot, gap_of, place_vectors, turned_gap
from ..contact.rubbing cimport moment, set_contact_slip
from ..memory.memory cimport Memory
from ..terms.nodes cimport differentiate_node
from .bearings cimport slip_of
from libc.math cimport sqrt

cdef Py_ssize_t ANGLE
cdef Py_ssize_t FACE
cdef double ALIKE

cdef void set_levers(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void set_rows(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef void set_rows_at_end(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef void evaluate_contact(Memory* m, Py_ssize_t dim, Py_ssize_t c, double h) noexcept nogil
cdef void fill_rows(Memory* m, Py_ssize_t dim, Py_ssize_t c, double h) noexcept nogil
cdef Py_ssize_t differentiate_side(Memory* m, Py_ssize_t dim, double h, Py_ssize_t n, double sign) noexcept nogil
cdef Py_ssize_t _side(Memory* m, Py_ssize_t c, Py_ssize_t b) noexcept nogil
cdef void _add_node(Memory* m, Py_ssize_t dim, (Py_ssize_t, Py_ssize_t) vector, Py_ssize_t b, Py_ssize_t by, double h) noexcept nogil
cdef double _part_of_slip(Memory* m, Py_ssize_t c, Py_ssize_t k) noexcept nogil
cdef void _add_bending(Memory* m, Py_ssize_t dim, Py_ssize_t c, Py_ssize_t k, Py_ssize_t end, double h) noexcept nogil
cdef void _add_shapes(Memory* m, Py_ssize_t dim, (Py_ssize_t, Py_ssize_t) node, double sign, Vec along, Vec out) noexcept nogil
cdef double bending(Memory* m, Py_ssize_t c, Py_ssize_t r, Vec rates) noexcept nogil
cdef void _add_spins(Memory* m, Py_ssize_t dim, Py_ssize_t c, Py_ssize_t side) noexcept nogil
cdef void set_free_response(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef double side_velocity(Memory* m, Py_ssize_t b, Py_ssize_t a, Mat v, Mat w) noexcept nogil
cdef double surface_rate(Memory* m, Py_ssize_t c, Py_ssize_t r) noexcept nogil
cdef double rate_after(Memory* m, Py_ssize_t c, Py_ssize_t r) noexcept nogil
cdef double rate(Memory* m, Py_ssize_t c, Py_ssize_t r) noexcept nogil
