from ...numerics.loops.binding cimport bind
from .gauss.scheme cimport Scheme
from .gauss.steps cimport run_gauss
from .memory.memory cimport Memory
from .memory.structures cimport Course, GaussTable, Table
from .rigid_steps.run cimport run_strikes
from .rigid_steps.striking cimport Striking
from .steps.run cimport run as run_steps, settle as _settle, settle_contacts as _settle_contacts

cdef Py_ssize_t STRIKES, COLLOCATION
