"""The public names of this room: each is loaded when it is asked for."""

from .quantities import Quantity as Quantity
from .quantities import distance as distance
from .quantities import distance_rate as distance_rate
from .quantities import joint_angle as joint_angle
from .quantities import joint_rate as joint_rate
from .quantities import offset as offset
from .quantities import offset_rate as offset_rate
from .quantities import position as position
from .quantities import velocity as velocity
