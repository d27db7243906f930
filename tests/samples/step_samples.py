"""One step of a mechanism as equations: the residual at an iterate, its Jacobian by differences and as factored."""

import numpy as np

from flexph.kernels.jacobians.blocks import flatten, unflatten
from flexph.kernels.jacobians.factor import factor
from flexph.kernels.state import derive
from flexph.kernels.step import residual
from flexph.kernels.values import Point, Step


class StepEquations:
    """A step of length h from a configuration, and an iterate y = (mean velocities, hλ)."""

    def __init__(self, mechanism, h, configuration, *, schedule, y):
        self.a, self.h, self.y = mechanism.network.arrays, h, y
        self.c, self.d, self.schedule = configuration, derive(self.a, configuration), schedule
        self.velocities = mechanism.layout.velocities

    def iterate(self, y):
        return unflatten(self.a, y[: self.velocities], y[self.velocities :] / self.h)

    def _residual(self, y):
        return residual(self.a, Step(self.c, self.d, self.h, self.schedule), self.iterate(y))

    def residual(self, y):
        r = self._residual(y)[0]
        return np.concatenate([flatten(self.a, r), r.lam / self.h])

    def newton_error(self):
        """What the kernels' J⁻¹ leaves of random directions after central differences of fourth order along them.

        A wrong entry shows along almost any direction; eight are a tenth of the work of a whole Jacobian.
        """
        directions = np.random.default_rng(4).choice([-1.0, 1.0], (8, self.y.size))
        e = 1e-3 / np.sqrt(self.y.size)
        change = lambda s: self.residual(self.y + s) - self.residual(self.y - s)  # noqa: E731
        along = np.array([(8.0 * change(s) - change(2.0 * s)) / (12.0 * e) for s in e * directions]).T
        return np.abs(self.solve(along) - directions.T).max()

    def solve(self, columns):
        """What the kernels make of right-hand sides, column by column."""
        trial = self._residual(self.y)[1]
        solve = factor(self.a, Point(self.c, self.d, self.h, self.schedule, trial))
        found = [solve(unflatten(self.a, b[: self.velocities], b[self.velocities :] * self.h)) for b in columns.T]
        return np.array([np.concatenate([flatten(self.a, x), x.lam * self.h]) for x in found]).T
