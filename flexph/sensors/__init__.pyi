"""The public names of this room: each is loaded when it is asked for."""

from .contacts import friction_force as friction_force
from .contacts import gap as gap
from .contacts import normal_force as normal_force
from .contacts import touches as touches
from .forces import joint_force as joint_force
from .forces import joint_torque as joint_torque
from .forces import sticks as sticks
from .quantities import Quantity as Quantity
from .quantities import distance as distance
from .quantities import joint_angle as joint_angle
from .quantities import joint_rate as joint_rate
from .quantities import offset as offset
from .quantities import place_on_curve as place_on_curve
from .quantities import position as position
from .quantities import velocity as velocity
from .rates import acceleration as acceleration
from .rates import rate as rate
from .states import energy as energy
from .states import section_force as section_force
from .states import section_rotation as section_rotation
from .states import spring_force as spring_force
from .states import strain as strain
from .states import stress as stress
from .wheels import wheel_force as wheel_force
from .wheels import wheel_slip as wheel_slip
