from ....numerics.loops.views cimport Mat, Ten, Vec, fill, get, larger, put
from ..memory.memory cimport Memory
from ..terms.spring_laws cimport law_value, mean_force, mean_slope, row_factor
from libc.math cimport fabs, sqrt

cdef void begin_strains(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void _strain_at_start(Memory* m) noexcept nogil
cdef void strain(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _evaluate_laws(Memory* m, double h) noexcept nogil
cdef double _largest_slope(Memory* m, Py_ssize_t k, double x) noexcept nogil
cdef void add_line_energies(Memory* m, Py_ssize_t dim, Vec out) noexcept nogil
cdef void add_work_of_schedules(Memory* m, Vec out) noexcept nogil
cdef void _place_columns(Py_ssize_t dim, Mat r, Ten R, Mat column) noexcept nogil
cdef void _set_vectors(Memory* m, Py_ssize_t dim, Mat column, Mat vector) noexcept nogil
cdef void _set_products(Memory* m, Py_ssize_t dim, Mat vector, Vec product) noexcept nogil
cdef double partner(Memory* m, Mat vector, Py_ssize_t p, Py_ssize_t side, Py_ssize_t i) noexcept nogil
cdef void _differentiate_strain(Memory* m, Py_ssize_t e) noexcept nogil
cdef void add_strain_forces(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void set_stress_forces(Memory* m, Py_ssize_t dim) noexcept nogil
cdef double column_torque(Memory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t i) noexcept nogil
cdef void predict_stresses(Memory* m, Py_ssize_t dim, double h) noexcept nogil
cdef void _move_columns(Memory* m, Py_ssize_t dim, double h, Py_ssize_t b) noexcept nogil
