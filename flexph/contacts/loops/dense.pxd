from ...numerics.loops.binding cimport bind
from ...numerics.loops.views cimport Mat, Vec
from .near cimport near
from .problem cimport Cone, Space
