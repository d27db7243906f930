"""The public names of :mod:`flexph.plot`: each is loaded when it is asked for."""

from .axes import save as save
from .energy import ledger as ledger
from .envelopes import stress_envelope as stress_envelope
from .frequencies import campbell as campbell
from .mode_shapes import modes as modes
from .motions import motion as motion
from .responses import bode as bode
from .responses import nyquist as nyquist
from .responses import poles_and_zeros as poles_and_zeros
from .structures import structure as structure
from .studies import study as study
