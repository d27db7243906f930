"""The public names of :mod:`flexph.gradients`: each is loaded when it is asked for."""

from .adjoint import Gradient as Gradient
from .adjoint import gradient as gradient
from .functionals import Integral as Integral
from .functionals import Last as Last
from .functionals import MeanSquare as MeanSquare
