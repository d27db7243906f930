"""The public names of :mod:`flexph.gradients`: each is loaded when it is asked for."""

from .adjoint import Gradient as Gradient
from .adjoint import gradient as gradient
from .adjoint import gradients as gradients
from .forward import ForwardSensitivities as ForwardSensitivities
from .forward import forward_sensitivities as forward_sensitivities
from .functionals import Increase as Increase
from .functionals import Integral as Integral
from .functionals import Last as Last
from .functionals import MeanSquare as MeanSquare
from .functionals import Peak as Peak
from .interior_point import InteriorPoint as InteriorPoint
from .responses import Responses as Responses
from .shooting_problems.duration import Duration as Duration
from .shooting_problems.multiple import MultipleShooting as MultipleShooting
from .shooting_problems.optimal_inputs import OptimalControl as OptimalControl
from .shooting_problems.optimal_inputs import optimal_control as optimal_control
