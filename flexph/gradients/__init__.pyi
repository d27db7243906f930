"""The public names of :mod:`flexph.gradients`: each is loaded when it is asked for."""

from .functionals import Integral as Integral
from .functionals import Last as Last
from .functionals import MeanSquare as MeanSquare
from .gradient import Gradient as Gradient
from .gradient import gradient as gradient
