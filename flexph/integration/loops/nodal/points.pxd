from ....numerics.loops.views cimport Mat
from ....numerics.loops.views cimport Number
from ..memory.memory cimport Memory
from ..memory.memory cimport Memory as AnyMemory
from ..terms.border cimport add

cdef void gather_points(AnyMemory* m) noexcept nogil
cdef void spread_points(AnyMemory* m) noexcept nogil
cdef void add_point_masses(AnyMemory* m) noexcept nogil
cdef void place_means(Memory* m, Mat r, Mat arm) noexcept nogil
cdef void move_means(Memory* m, Mat v) noexcept nogil
cdef void distribute_mean_forces(Memory* m) noexcept nogil
