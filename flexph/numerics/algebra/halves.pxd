from ..loops.threads cimport run_both
from ..loops.views cimport IVec, Mat, Vec, part
from .band cimport backward, factor, factor_first, forward, solve
from .ends cimport EliminatedEnd

cdef Py_ssize_t LEAST_WORK
cdef Py_ssize_t LEAST_SOLVED

cdef bint has_halves(Py_ssize_t N, Py_ssize_t w) noexcept nogil
cdef Py_ssize_t rows_of_halves(Py_ssize_t N, Py_ssize_t w) noexcept nogil
cdef Py_ssize_t _first(Py_ssize_t N, Py_ssize_t w) noexcept nogil
cdef bint is_of_second(Py_ssize_t N, Py_ssize_t w, Py_ssize_t i, Py_ssize_t j) noexcept nogil
cdef Py_ssize_t rows_of_first(Py_ssize_t N, Py_ssize_t w) noexcept nogil
cdef void add_entry(Mat A, Py_ssize_t N, Py_ssize_t w, Py_ssize_t i, Py_ssize_t j, double value) noexcept nogil
cdef EliminatedEnd _first_end(Mat A, IVec pivot, Py_ssize_t w, Vec x) noexcept nogil
cdef EliminatedEnd _second_end(Mat A, IVec pivot, Py_ssize_t w, Vec other) noexcept nogil
cdef bint factor_halves(Mat A, IVec pivot, Py_ssize_t w, Vec x, Vec other, Py_ssize_t threads) noexcept nogil
cdef void solve_halves(Mat A, IVec pivot, Py_ssize_t w, Vec x, Vec other, Py_ssize_t threads) noexcept nogil
cdef Mat _middle(Mat A, Py_ssize_t w) noexcept nogil
cdef void _eliminate(EliminatedEnd& end) noexcept nogil
cdef void _go_forward(EliminatedEnd& end) noexcept nogil
cdef void _go_backward(EliminatedEnd& end) noexcept nogil
