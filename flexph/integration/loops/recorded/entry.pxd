from ....numerics.loops.binding cimport bind
from ....numerics.loops.recorded cimport forget_programs
from ..memory.memory cimport Memory
from ..memory.recorded cimport RecordedMemory
from .backward cimport Backward
from .collocation cimport go_back_by_nodes
from .decayed cimport Decayed
from .decaying cimport go_back_decaying
from .forward cimport Forward
from .nodes cimport Collocated
from .sweeps cimport go_back
from .tangents cimport go_forward

cdef Py_ssize_t BACK
cdef Py_ssize_t BACK_BY_NODES
cdef Py_ssize_t BACK_DECAYING
