"""The public names of :mod:`flexph.mechanisms`: each is loaded when it is asked for."""

from .connected_bodies import connect as connect
from .mechanism import Mechanism as Mechanism
from .model.state import Pose as Pose
from .model.state import State as State
from .poses.reactions import Reaction as Reaction
from .statics.buckling import Buckling as Buckling
from .statics.small_motion import Spectrum as Spectrum
