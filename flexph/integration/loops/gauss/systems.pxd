from ....numerics.loops.views cimport Vec, fill, divided
from ..mechanics.arrow cimport eliminate, solve
from ..mechanics.arrow_complex cimport eliminate as eliminate_pair, solve as solve_pair
from ..mechanics.assembly cimport assemble
from ..mechanics.assembly_complex cimport assemble as assemble_pair
from ..memory.memory cimport stage
from ..memory.paired cimport paired
from .scheme cimport Scheme

cdef bint factor_all(Py_ssize_t dim, Scheme& g, double h, Vec coefficient) noexcept nogil
cdef void solve_all(Py_ssize_t dim, Scheme& g, double h) noexcept nogil
cdef void _solve_real(Py_ssize_t dim, Scheme& g, double h) noexcept nogil
cdef void _solve_pair(Py_ssize_t dim, Scheme& g, double h, Py_ssize_t k) noexcept nogil
