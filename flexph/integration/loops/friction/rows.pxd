from ....numerics.loops.views cimport Mat, Vec, copy, fill, larger
from ..mechanics.arrow cimport solve
from ..mechanics.curves cimport add_unit_force_along, rate_along, rate_curves, slip_along
from ..terms.paths cimport set_curves_at_rest
from ..mechanics.forces cimport subtract_node_loads, add_forces_on_nodes, add_node_resultants
from ..mechanics.motion cimport product_rate
from ..mechanics.redundancy cimport solve as solve_redundant
from ..memory.memory cimport Memory
from ..nodal.points cimport distribute_mean_forces
from libc.math cimport fabs, sqrt

cdef Py_ssize_t curve_of(Memory* m, Py_ssize_t spring) noexcept nogil
cdef void measure_slips(Memory* m, double h) noexcept nogil
cdef void set_friction_forces(Memory* m) noexcept nogil
cdef void set_force_responses(Memory* m, Py_ssize_t dim, int redundant, int decay, double h) noexcept nogil
cdef double slip_change(Memory* m, Py_ssize_t k) noexcept nogil
cdef void set_unit_defects(Memory* m, Py_ssize_t dim, Py_ssize_t q, double h) noexcept nogil
cdef (Py_ssize_t, Py_ssize_t) _products(Memory* m, Py_ssize_t spring) noexcept nogil
cdef (double, double) _end_gradient(Memory* m, Py_ssize_t spring) noexcept nogil
cdef void set_gradients(Memory* m) noexcept nogil
cdef void differentiate_slips(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _add_gradient(Memory* m, Py_ssize_t dim, Py_ssize_t q, Py_ssize_t p, double gain) noexcept nogil
cdef double slip_size(Memory* m, Py_ssize_t dim, Mat v, Mat w, Vec du, Mat shift) noexcept nogil
cdef double end_rates(Memory* m, Py_ssize_t dim, Vec out) noexcept nogil
cdef double _terms_along(Memory* m, Py_ssize_t dim, Py_ssize_t c) noexcept nogil
cdef double _terms(Memory* m, Py_ssize_t dim, Py_ssize_t p) noexcept nogil
cdef double pressed_size(Memory* m, Py_ssize_t i) noexcept nogil
