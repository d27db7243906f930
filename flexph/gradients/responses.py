"""Named values of a run as a differentiable function of parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..integration.integrate import integrate
from ..integration.methods.exact import Exact
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import ORDER_SIX
from ..sensors.quantities import Quantity
from .adjoint import gradients
from .forward import ForwardSensitivities, forward_sensitivities
from .functionals import Functional
from .parameters import step_of
from .runs.kept_steps import WholeRun
from .runs.problems import Times, made, problem_of
from .runs.readings import AGREED, readings
from .sensed import component_of, sensed_of

FEW = 3
"""Number of parameters up to which derivatives are carried forward."""

Values = dict[str, Any]
ByParameter = dict[str, dict[str, Any]]


@checked
@dataclass(frozen=True)
class Responses:
    """Values of a run as a function of parameters with derivatives, for :func:`~flexph.studies.optimise` and fits.

    A call with parameters runs the mechanism by :class:`~flexph.methods.Exact` and returns the values;
    :meth:`derivatives` also returns exact derivatives of the discrete run. Functionals are differentiated by a backward
    sweep each (:func:`gradient`); histories, and functionals of at most three parameters, by forward differentiation
    (:func:`forward_sensitivities`).

    Attributes
    ----------
    make : callable
        Function of the named parameters that returns mechanism, start, and inputs if there are any
        (:func:`gradient`).
    times : array or callable
        Times of the run [s], or a function of the named parameters that returns them.
    values : dict
        Values by name, each a functional of the run; a sensor, whose value is its history, the readings at all times;
        or a smooth function of the named parameters that returns a number, such as a mass.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge
    >>> from flexph.gradients import Last, Responses
    >>> from flexph.sensors import position
    >>> def pendulum(length, mass):
    ...     mechanism = connect({"bar": rigid.bar(length, mass)}, [hinge("bar.root", GROUND)], gravity=(0.0, -9.81))
    ...     return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))
    >>> run = Responses(pendulum, np.linspace(0.0, 0.2, 21), {
    ...     "height": Last(position("bar.tip"), component=1), "moment": lambda length, mass: 9.81 * length * mass})
    >>> values, by = run.derivatives(length=0.5, mass=2.0)
    >>> values["height"] == run(length=0.5, mass=2.0)["height"], round(by["moment"]["mass"], 9)
    (True, 4.905)
    """

    make: Callable[..., Any]
    times: Times
    values: Mapping[str, Functional | Quantity | Callable[..., Any]]

    def __post_init__(self) -> None:
        """Check that at least one value is given."""
        if not self.values:
            raise ValueError("values must have at least one functional, sensor or function by name, got none")

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """Function ``make``; tools read its signature and source to identify the study."""
        return self.make

    @property
    def settings(self) -> tuple[Any, ...]:
        """Times, names and values of the responses, which must be equal if a study is resumed."""
        times = self.times if callable(self.times) else np.asarray(self.times, dtype=float)
        return times, *self.values, *self.values.values()

    def __call__(self, **parameters: float) -> Values:
        """Run the mechanism at parameters; return the values by name."""
        problem = problem_of(self.make, parameters, self.times, strikes=True)
        run = integrate(
            problem.mechanism, problem.start, problem.times, method=Exact(), inputs=problem.inputs, progress=False
        )
        values: Values = {}
        for name, value in self.values.items():
            if isinstance(value, Quantity):
                values[name] = _shaped(value, readings(problem.mechanism, value, run.states))
            elif isinstance(value, Functional):
                values[name] = sensed_of(WholeRun(problem, run), value).value
            else:
                values[name] = _function_value(name, value, parameters)
        return values

    def derivatives(self, **parameters: float) -> tuple[Values, ByParameter]:
        """Run the mechanism at given parameters.

        Return the values by name, and their derivatives by names of value and parameter.
        """
        functionals = {
            name: functional for name, functional in self.values.items() if isinstance(functional, Functional)
        }
        histories = {name: functional for name, functional in self.values.items() if isinstance(functional, Quantity)}
        plain: dict[str, Any] = {
            k: functional for k, functional in self.values.items() if k not in {**functionals, **histories}
        }
        values: Values = {}
        by: ByParameter = {}
        fixed = not callable(self.times)  # else functionals depend on the times, too
        along = {
            name: functional
            for name, functional in functionals.items()
            if fixed and functional.quantity.of_steps is None
        }
        few = len(parameters) <= FEW and not made(self.make, parameters)[0].network.arrays.contacts.laws.rigid.any()
        if histories or (along and few):
            self._forward(parameters, histories, along, (values, by))
        back = {name: functional for name, functional in functionals.items() if name not in values}
        for name, functional in gradients(self.make, parameters, self.times, back).items() if back else ():
            values[name], by[name] = functional.value, dict(functional.by)
        for name, function in plain.items():
            values[name] = _function_value(name, function, parameters)
            by[name] = {key: _slope(name, function, parameters, key) for key in parameters}
        return {name: values[name] for name in self.values}, {name: by[name] for name in self.values}

    def _forward(
        self,
        parameters: Mapping[str, float],
        histories: Mapping[str, Quantity],
        functionals: Mapping[str, Functional],
        into: tuple[Values, ByParameter],
    ) -> None:
        """Compute values and their derivatives by forward differentiation, and add them to the mappings ``into``.

        ``histories`` are sensors whose readings are values, ``functionals`` those with one number each.
        """
        sensors = {**histories, **{name: reduced.quantity for name, reduced in functionals.items()}}
        found = forward_sensitivities(self.make, parameters, self.times, sensors)
        for name in histories:
            into[0][name], into[1][name] = found.values[name], dict(found.by[name])
        for name, functional in functionals.items():
            into[0][name], into[1][name] = _of_history(functional, name, found)


def _of_history(functional: Functional, name: str, found: ForwardSensitivities) -> tuple[float, dict[str, Any]]:
    """Value of a functional and its derivatives by name of the parameter, from the sensitivities of its sensor.

    ``found`` has the readings at all times with their derivatives.
    """
    times = found.solution.times
    rows = {key: one.reshape(len(times), -1) for key, one in found.by[name].items()}
    values = component_of(functional.component, functional.quantity, found.values[name].reshape(len(times), -1))
    slopes = functional.slopes(times, values)
    by = {key: float(slopes @ one[:, functional.component]) for key, one in rows.items()}
    return functional.value(times, values), by


def _shaped(quantity: Quantity, values: Array) -> Array:
    """Readings (k,) of a scalar sensor, or (k, c) of a vector, from readings with a column for each component."""
    return values[:, 0] if quantity.scalar else values


def _function_value(name: str, function: Callable[..., Any], parameters: Mapping[str, float]) -> float:
    """Value of the function ``name`` of the parameters, as a float."""
    return check.number(f"values[{name!r}]", function(**parameters))


def _slope(name: str, function: Callable[..., Any], parameters: Mapping[str, float], key: str) -> float:
    """Derivative of the function ``name`` of the parameters with respect to the parameter ``key``.

    It is a difference of sixth order. Raises ValueError if the function is not smooth.
    """
    size = step_of(parameters[key])
    at = [{**parameters, key: parameters[key] + k * size} for k in (-3, -2, -1, 1, 2, 3)]
    values = [_function_value(name, function, one) for one in at]
    pairs = np.array([values[3] - values[2], values[4] - values[1], values[5] - values[0]])
    fine = float(np.array([*ORDER_SIX.values()]) @ pairs) / size
    coarse = float(8.0 * pairs[0] - pairs[1]) / (12.0 * size)
    noise = 1e-12 * float(np.abs(values).max()) / size
    here = _function_value(name, function, parameters)
    bend = (values[0] + values[5] - 2.0 * here - 9.0 * (values[2] + values[3] - 2.0 * here)) / size  # nonzero at a kink
    if max(abs(fine - coarse), abs(bend)) > AGREED * float(np.abs(pairs).max()) / size + noise:
        raise ValueError(f"values[{name!r}] must be a smooth function, it is not near {key} = {parameters[key]:g}")
    return fine
