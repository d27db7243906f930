"""A port-Hamiltonian controller in a run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..mechanisms.model.model import Model
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..systems.inputs import Forcing
from .continuous import Continuous, ControllerStep, steps_of


class ContinuousLoop:
    """A controller in a run: its steps, where its ports are, and what acts on it from outside."""

    def __init__(self, name: str, given: Continuous, mechanism: Model, outputs: Mapping[str, slice]) -> None:
        self.name, self.given, self.steps = name, given, steps_of(given.system)
        slices, ports = mechanism.network.input_slices, given.system.ports
        for own, port in given.ports.items():
            widths = [s.stop - s.start for s in (ports[own], slices[port])]
            if widths[0] != widths[1]:
                raise ValueError(
                    f"controller {name!r}: port {own!r} has {widths[0]} components, "
                    f"{port!r} of the mechanism {widths[1]}"
                )
        self.joined = [(own, ports[own], slices[port], outputs[port]) for own, port in given.ports.items()]
        self.entries = np.concatenate([np.arange(into.start, into.stop) for _, _, into, _ in self.joined])
        self.size = max(s.stop for s in ports.values())
        self._references = Forcing(ports, given.references)
        self._inputs = Forcing(ports, given.inputs)
        self.outside = [*given.references, *given.inputs]
        self.spans = [ports[port] for port in self.outside]

    def start_from(self, known: Array | None) -> Array:
        """Its state at the start of a run: where the last one ended, or as given."""
        own = self.given.start if known is None else known
        return check.array(f"state of controller {self.name!r}", own, (self.given.system.size,))

    def acting(self, span: tuple[float, float]) -> Array:
        """What acts from outside over a step, (m,)."""
        t0, t1 = span
        inputs = self._inputs.at(0.5 * (t0 + t1))
        if not self.given.references:
            return inputs
        return np.asarray(inputs - (self._references.at(t1) - self._references.at(t0)) / (t1 - t0))

    def acting_over(self, times: Array) -> Array:
        """The same of all steps between times, (k, m)."""
        inputs, h = self._inputs.over(0.5 * (times[1:] + times[:-1])), np.diff(times)[:, None]
        if not self.given.references:
            return np.broadcast_to(inputs, (h.size, inputs.shape[1]))
        references = self._references.over(times)
        return np.asarray(inputs - (np.diff(references, axis=0) / h if len(references) > 1 else np.zeros_like(h)))

    def whole_input(self, acting: Array, output: Array) -> Array:
        """What acts from outside and the outputs of the mechanism, (m,)."""
        u = acting.copy()
        for _, own, _, seen in self.joined:
            u[own] += output[seen]
        return u

    def worked(self, step: ControllerStep, acting: Array, h: float) -> list[float]:
        """The work of what is outside by port."""
        return [h * float(step.output[part] @ acting[part]) for part in self.spans]
