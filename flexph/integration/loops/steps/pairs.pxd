from ....numerics.loops.views cimport Mat, Vec, copy, fill, larger
from ..mechanics.motion cimport inertia_products, momenta
from ..memory.memory cimport Memory
from ..memory.structures cimport Deformed, Given, Kinds, Momenta, Pair
from .impulse cimport solve_impulse, factor_instant, subtract_impulse
from .newton cimport solve_step
from libc.math cimport fabs
from .rows cimport refuse

cdef Py_ssize_t DEPENDENT

cdef Py_ssize_t HISTORY

cdef void begin_pair(Memory* m, Pair pair) noexcept nogil
cdef void update_largest_energy(Memory* m, Pair pair) noexcept nogil
cdef void store_gaps(Memory* m, Pair pair) noexcept nogil
cdef bint release_contacts(Memory* m, Pair pair) noexcept nogil
cdef void estimate(Memory* m, Py_ssize_t dim, Kinds kinds, Pair pair, double h, Py_ssize_t known) noexcept nogil
cdef void _difference(Memory* m, Pair pair, double h, Py_ssize_t known) noexcept nogil
cdef void _momenta(Memory* m, Py_ssize_t dim, Mat v, Mat w, Vec du) noexcept nogil
cdef bint reflect_defect(Memory* m, Py_ssize_t dim, int redundant, Pair pair, Given given, double length) noexcept nogil
