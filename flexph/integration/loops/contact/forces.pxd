from ....numerics.loops.views cimport Vec, fill, larger
from ..memory.memory cimport Memory
from .gaps cimport differentiate_gap, gap_of, place_vectors, turned_gap
from .laws cimport potential, set_normal_force
from .rubbing cimport moment, set_friction, set_contact_slip
from libc.math cimport fabs, sqrt

cdef Py_ssize_t ANGLE
cdef double EVEN
cdef Py_ssize_t FACE

cdef void begin_contacts(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void evaluate_contacts(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef bint _begins_skin(Memory* m, Py_ssize_t c) noexcept nogil
cdef void _evaluate_skin(Memory* m, Py_ssize_t dim, Py_ssize_t first, double h) noexcept nogil
cdef double _gap_resolution(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef void _press_face(Memory* m, Py_ssize_t dim, Py_ssize_t c, (Py_ssize_t, Py_ssize_t) faces, double h, double share) noexcept nogil
cdef void _store_skin(Memory* m, Py_ssize_t dim, Py_ssize_t first) noexcept nogil
cdef bint leaves_list(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void _clear_contact(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef bint is_active(Memory* m, Py_ssize_t c) noexcept nogil
cdef void add_contact_forces(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void add_contact_torques(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void store_contacts(Memory* m, Py_ssize_t dim) noexcept nogil
cdef double _anchor_energy(Memory* m, Py_ssize_t dim, Py_ssize_t c, bint is_start) noexcept nogil
cdef void add_surface_outputs(Memory* m, Py_ssize_t dim, Vec out) noexcept nogil
cdef void record_contacts(Memory* m, Py_ssize_t dim, double h) noexcept nogil
