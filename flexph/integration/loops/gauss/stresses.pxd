from ....numerics.loops.views cimport copy, fill
from ..mechanics.residual cimport write_elastic_stresses, stress_rates, turn_strain_rows
from ..memory.memory cimport Memory
from ..memory.memory cimport stage
from .nodes cimport add_field
from .scheme cimport Scheme

cdef void strain(Memory* m, Scheme& g, double h, bint begins) noexcept nogil
cdef void keep_strain_rows(Memory* m, Scheme& g) noexcept nogil
cdef void add_stress_defects(Memory* m, Scheme& g, double h) noexcept nogil
cdef void correct_stress_rates(Memory* m, Scheme& g, double h) noexcept nogil
