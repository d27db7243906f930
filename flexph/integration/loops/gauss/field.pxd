from ....numerics.loops.views cimport Vec, get, put

cdef void add_field(double factor, Vec source, Vec target) noexcept nogil
