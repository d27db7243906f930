"""The public names of :mod:`flexph.scenes`: each is loaded when it is asked for."""

from .files import read_scene as read_scene
from .files import write_scene as write_scene
from .of_modes import mode_scene as mode_scene
from .of_motion import motion_scene as motion_scene
from .of_motion import pose_scene as pose_scene
from .scene import Field as Field
from .scene import Part as Part
from .scene import Scene as Scene
