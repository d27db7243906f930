from ...numerics.loops.binding cimport bind
from .decay.step cimport prepare
from .gauss.scheme cimport Scheme
from .gauss.steps cimport run_gauss
from .terms.masses cimport set_changing_masses
from .memory.memory cimport Memory
from .memory.structures cimport Course, GaussTable, Given, Kinds, Table
from .rigid_steps.run cimport run_strikes
from .memory.striking cimport Striking
from .steps.newton cimport begin as _begin, evaluate as _evaluate, factor_step, solve_step
from .steps.run cimport run as run_steps, settle as _settle, settle_contacts as _settle_contacts

cdef Py_ssize_t STRIKES, COLLOCATION
