from ...contacts.loops.island_space cimport LawSpace
from ...numerics.loops.binding cimport bind
from ...numerics.loops.views cimport IVec
from .gauss.scheme cimport Scheme
from .gauss.steps cimport run_gauss as _run_gauss
from .memory.memory cimport Memory
from .rigid_steps.run cimport run_strikes as _run_strikes
from .steps.run cimport run as _run, settle as _settle, settle_contacts as _settle_contacts
from .memory.structures cimport Between, Calls, GaussTable, Parts, Rows, Table
