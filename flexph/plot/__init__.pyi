"""The public names of :mod:`flexph.plot`: each is loaded when it is asked for."""

from .axes import save as save
from .cycles import load_spectrum as load_spectrum
from .mode_shapes import modes as modes
from .responses import bode as bode
from .responses import campbell as campbell
from .responses import nyquist as nyquist
from .responses import poles_and_zeros as poles_and_zeros
from .stress_extremes import stress_envelope as stress_envelope
from .structures import structure as structure
from .studies import study as study
from .time_histories import ledger as ledger
from .time_histories import motion as motion
