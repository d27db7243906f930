from ...numerics.loops.binding cimport bind
from ...numerics.loops.views cimport Mat, Vec
from .proximal cimport solve_proximal
from .problem cimport Cone, Space
