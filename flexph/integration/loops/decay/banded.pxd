from ....numerics.algebra.band cimport factor as factor_band, solve as solve_band, solve_many
from ....numerics.algebra.dense cimport factor, solve
from ....numerics.loops.views cimport IVec, Mat, Vec, block, fill, part
from ..memory.memory cimport Memory
from .inertia cimport turning_inertia

cdef Py_ssize_t INERTIA
cdef Py_ssize_t RESTING
cdef Py_ssize_t MOVING

cdef void prepare(Memory* m, Py_ssize_t dim, Py_ssize_t b, double h) noexcept nogil
cdef (Mat, IVec, Mat, Mat, IVec) _matrix(Memory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t kind) noexcept nogil
cdef void _factor(Memory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t kind, double inertia, double stiffness) noexcept nogil
cdef void _solve(Memory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t kind, double inertia, Vec x) noexcept nogil
cdef void _move(Memory* m, Py_ssize_t dim, Py_ssize_t b, Vec x) noexcept nogil
cdef void add_damping_stresses(Memory* m, Py_ssize_t dim, Py_ssize_t b) noexcept nogil
cdef void end_rates(Memory* m, Py_ssize_t dim, Py_ssize_t b) noexcept nogil
cdef void _gather(Memory* m, Py_ssize_t dim, Py_ssize_t b, Mat X) noexcept nogil
