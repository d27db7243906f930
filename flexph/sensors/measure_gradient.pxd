from ..numerics.loops.views cimport Mat, Ten, Vec, fill
from .loops cimport _nodes, _products
from .seen cimport Pulled, Seen

cdef inline Pulled* pulled_at(Py_ssize_t address) noexcept nogil:
    return <Pulled*>address

cdef void _pull_measure(Seen& s, Py_ssize_t index, bint is_rate, Mat by_product) noexcept nogil
cdef void _pull_products(Seen& s, Mat by_product, Ten by_vector, Ten by_node) noexcept nogil
cdef void _pull_node(Seen& s, Vec x, Py_ssize_t k, Ten by_node, Mat arm, Mat by_arm, Vec out) noexcept nogil
cdef void _pull_turn_in_plane(Seen& s, Vec x, Py_ssize_t k, Mat arm, Mat by_arm, Vec out) noexcept nogil
cdef void _pull_turn_in_space(Seen& s, Vec x, Py_ssize_t k, Mat arm, Mat by_arm, Vec out) noexcept nogil
cdef void _turn_back(Vec x, Py_ssize_t turn, Mat by_arm) noexcept nogil
