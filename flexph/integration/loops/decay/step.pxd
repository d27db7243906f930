from ....kernels.convergence.rules cimport rounded
from ..memory.memory cimport Memory
from .banded cimport prepare as prepare_banded, end_rates as rates_banded, add_damping_stresses as soften_banded
from .banded_jacobian cimport assemble as add_banded
from .full cimport prepare as prepare_full, end_rates as rates_full, add_damping_stresses as soften_full
from .full_jacobian cimport add_decay as add_full

cdef void prepare(Memory* m, Py_ssize_t dim, double length) noexcept nogil
cdef void add_damping_stresses(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void end_rates(Memory* m, Py_ssize_t dim) noexcept nogil
cdef void add_decay(Memory* m, Py_ssize_t dim, double h) noexcept nogil
