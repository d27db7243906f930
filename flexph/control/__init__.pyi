"""The public names of :mod:`flexph.control`: each is loaded when it is asked for."""

from .actuators import delayed as delayed
from .actuators import quantised as quantised
from .actuators import rate_limited as rate_limited
from .actuators import saturated as saturated
from .compensators import Compensator as Compensator
from .compensators import beside as beside
from .compensators import notch as notch
from .compensators import passive as passive
from .compensators import pid as pid
from .continuous import Continuous as Continuous
from .drive_train import gearbox as gearbox
from .drive_train import motor as motor
from .plants import Plant as Plant
from .plants import angles_of as angles_of
from .plants import plant_of as plant_of
from .port_control import feedback as feedback
from .port_control import inject_damping as inject_damping
from .port_control import passive_observer as passive_observer
from .port_control import port_spring as port_spring
from .regulators import ClosedLoop as ClosedLoop
from .regulators import Margins as Margins
from .regulators import closed_loop as closed_loop
from .regulators import lqr as lqr
from .regulators import margins as margins
from .sampled import Sampled as Sampled
from .state_feedback import StateFeedback as StateFeedback
