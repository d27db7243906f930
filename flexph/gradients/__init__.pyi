"""The public names of :mod:`flexph.gradients`: each is loaded when it is asked for."""

from .adjoint import Gradient as Gradient
from .adjoint import gradient as gradient
from .functional_values import Integral as Integral
from .functional_values import Last as Last
from .functional_values import MeanSquare as MeanSquare
