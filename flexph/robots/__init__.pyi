"""The public names of :mod:`flexph.robots`: each is loaded when it is asked for."""

from .joint_control import computed_torque as computed_torque
from .kinematics import Kinematics as Kinematics
from .kinematics import Place as Place
from .links.actuators import Actuator as Actuator
from .links.denavit_hartenberg import Link as Link
from .links.denavit_hartenberg import denavit_hartenberg as denavit_hartenberg
from .links.joints import RobotJoint as RobotJoint
from .links.robot import Robot as Robot
from .motions import Motion as Motion
from .profiles import polynomial as polynomial
from .profiles import sequence as sequence
from .profiles import spline as spline
from .profiles import trapezoid as trapezoid
