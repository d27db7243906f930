"""The public names of :mod:`flexph.control`: each is loaded when it is asked for."""

from .port_control import feedback as feedback
from .port_control import inject_damping as inject_damping
from .port_control import passive_observer as passive_observer
from .port_control import port_spring as port_spring
from .sampled import Sampled as Sampled
