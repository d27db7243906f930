from ....numerics.algebra.band cimport factor as factor_band, solve as solve_band, solve_many
from ....numerics.loops.views cimport IVec, Mat, Vec, block, call_one, fill, get, part, put, subtract, divided
from ....numerics.loops.views cimport Mat as AnyMat
from ....numerics.loops.views cimport Number
from ....numerics.loops.views cimport Vec as AnyVec
from ..decay.elimination cimport eliminate_banded, solve_banded
from ..memory.memory cimport Memory
from ..memory.memory cimport Memory as AnyMemory
from ..memory.structures cimport Given
from ..nodal.points cimport gather_points, spread_points
from ..terms.border cimport add
from .assembly cimport assemble_step

cdef Py_ssize_t FACTOR
cdef Py_ssize_t SOLVE

cdef bint eliminate(AnyMemory* m, Py_ssize_t dim, int decay) noexcept nogil
cdef void solve(AnyMemory* m, Py_ssize_t dim, int decay, Number h) noexcept nogil
cdef void reduce(AnyMemory* m, Py_ssize_t dim, int decay, Number h) noexcept nogil
cdef void expand(AnyMemory* m, Py_ssize_t dim, Number h) noexcept nogil
cdef void solve_border(AnyMemory* m) noexcept nogil
cdef (AnyMat, IVec, Py_ssize_t, AnyMat) _inner(AnyMemory* m, Py_ssize_t b) noexcept nogil
cdef bint _eliminate(AnyMemory* m, Py_ssize_t dim, int decay, Py_ssize_t b) noexcept nogil
cdef void _fill(AnyMemory* m, Py_ssize_t dim, Py_ssize_t b, AnyMat X) noexcept nogil
cdef void _condense(AnyMemory* m, Py_ssize_t dim, Py_ssize_t b, AnyMat X) noexcept nogil
cdef void _subtract(AnyMemory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t row, AnyVec values) noexcept nogil
cdef void _reduce(AnyMemory* m, Py_ssize_t dim, int decay, Py_ssize_t b) noexcept nogil
cdef void _move_on(AnyMemory* m, Py_ssize_t dim, Py_ssize_t b, AnyVec inner) noexcept nogil
cdef void _expand(AnyMemory* m, Py_ssize_t dim, Py_ssize_t b) noexcept nogil
cdef bint factor(Memory* m, Py_ssize_t dim, int decay, int contact, Given given) noexcept nogil
cdef bint _eliminate_banded(Memory* m, Py_ssize_t dim, Py_ssize_t b, Mat X) noexcept nogil
cdef Py_ssize_t _unknown(Memory* m, Py_ssize_t dim, Py_ssize_t b, Py_ssize_t k) noexcept nogil
