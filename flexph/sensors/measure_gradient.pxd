from ..numerics.loops.views cimport Mat, Ten, Vec, fill
from .loops cimport _nodes, _products
from .panel_arrays cimport GradientMemory, PanelArrays

cdef inline GradientMemory* memory_at(Py_ssize_t address) noexcept nogil:
    return <GradientMemory*>address

cdef void _pull_measure(PanelArrays& s, Py_ssize_t index, bint is_rate, Mat by_product) noexcept nogil
cdef void _pull_products(PanelArrays& s, Mat by_product, Ten by_vector, Ten by_node) noexcept nogil
cdef void _pull_node(PanelArrays& s, Vec x, Py_ssize_t k, GradientMemory* p, Vec out) noexcept nogil
cdef void _pull_turn_in_plane(PanelArrays& s, Vec x, Py_ssize_t k, Mat arm, Mat by_arm, Vec out) noexcept nogil
cdef void _pull_turn_in_space(PanelArrays& s, Vec x, Py_ssize_t k, Mat arm, Mat by_arm, Vec out) noexcept nogil
cdef void _turn_back(Vec x, Py_ssize_t turn, Mat by_arm) noexcept nogil
