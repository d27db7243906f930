from ....numerics.algebra.band cimport factor as factor_band, solve as solve_band, solve_many
from ....numerics.algebra.dense cimport factor, solve, solve_many as solve_dense
from ....numerics.loops.views cimport IVec, Mat, Vec, block, fill, part, subtract
from ..memory.memory cimport Memory
from .banded_jacobian cimport RATE
from .banded_jacobian cimport border_of, enter

cdef (Mat, IVec, Mat, Mat, Mat) _matrices(Memory* m, Py_ssize_t b) noexcept nogil
cdef (Mat, IVec) _last(Memory* m, Py_ssize_t dim, Py_ssize_t b) noexcept nogil
cdef bint eliminate_banded(Memory* m, Py_ssize_t dim, Py_ssize_t b, Mat X) noexcept nogil
cdef void _enter_plain(Memory* m, Py_ssize_t dim, Py_ssize_t b) noexcept nogil
cdef void _keep_spins(Memory* m, Py_ssize_t dim, Py_ssize_t b, Mat W) noexcept nogil
cdef void _keep_reduced(Memory* m, Py_ssize_t dim, Py_ssize_t b, Mat W, Mat X) noexcept nogil
cdef void solve_banded(Memory* m, Py_ssize_t dim, Py_ssize_t b, Vec inner) noexcept nogil
