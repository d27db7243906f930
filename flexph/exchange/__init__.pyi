"""The public names of :mod:`flexph.exchange`: each is loaded when it is asked for."""

from .abaqus import Substructure as Substructure
from .abaqus import to_abaqus as to_abaqus
from .differentiable import to_jax as to_jax
from .differentiable import to_torch as to_torch
from .environments import environment as environment
from .general import from_general as from_general
from .load_decks import LoadSteps as LoadSteps
from .load_steps import write_load_steps as write_load_steps
from .mat import read_mat as read_mat
from .mat import write_mat as write_mat
from .matrix_market import read_matrix_market as read_matrix_market
from .matrix_market import write_matrix_market as write_matrix_market
from .pymor import from_pymor as from_pymor
from .pymor import to_pymor as to_pymor
from .robots.read import read_mjcf as read_mjcf
from .robots.read import read_sdf as read_sdf
from .robots.read import read_urdf as read_urdf
from .state_spaces import from_control as from_control
from .state_spaces import from_scipy as from_scipy
from .state_spaces import to_control as to_control
from .state_spaces import to_scipy as to_scipy
