from ....numerics.loops.views cimport Mat, Ten, Vec, call_one, fill, padded
from ..memory.memory cimport Memory
from .faces cimport add_face_forces
from .places cimport lever, place_solids

cdef Py_ssize_t MEAN
cdef Py_ssize_t ENERGY
cdef Py_ssize_t TANGENT

cdef void begin_solids(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void _deformation_gradients(Memory* m, Py_ssize_t dim, Mat place, Ten gradient) noexcept nogil
cdef void _strain(Memory* m, Py_ssize_t dim, Ten gradient, Mat out) noexcept nogil
cdef void strain_solids(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _evaluate_laws(Memory* m, double h) noexcept nogil
cdef void add_solid_forces(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void set_place_forces(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void _set_column_forces(Memory* m, Py_ssize_t dim, Py_ssize_t q, Mat out) noexcept nogil
cdef void add_frame_forces(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void add_frame_torques(Memory* m, Py_ssize_t dim, Mat torque) noexcept nogil
cdef void predict_solid_stresses(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _move_places(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _turn_place(Memory* m, Py_ssize_t dim, double h, Py_ssize_t k) noexcept nogil
cdef void add_law_energies(Memory* m, Py_ssize_t dim, Vec out) noexcept nogil
