"""One step of the loops at a given iterate: its residual, its trial end, and solutions by its factored Jacobian."""

import numpy as np

from flexph.integration.loops.entries import begin, evaluate, factor, solve
from flexph.integration.loops.memory.structures import Given, Kinds, Parts, no_pair
from flexph.integration.loops.stepper import Stepper
from flexph.kernels.state import Configuration
from flexph.mechanisms.model.accounts import Accounts

UNKNOWNS = ("v", "w", "du", "lam")


class StepOfLoops:
    """A step of the loops from a state, with the same prescribed quantities as the oracle."""

    def __init__(self, mechanism, start, given, **kinds):
        self.mechanism, self.given, self.kinds = mechanism, given, Kinds(decay=int(given.radius < 1.0), **kinds)
        a = mechanism.network.arrays
        self.dim, self.turning = a.dim, a.turning
        parts = Parts(np.ones(1), np.ones(1), 2, no_pair(), self.kinds)
        self.stepper = Stepper(mechanism, mechanism.once(Accounts), parts)  # keeps the memory alive
        rows = mechanism.layout.multipliers
        nothing = np.zeros((0, 1)), np.zeros(rows)
        timed = [part.factor is not None for part in a.strains.laws]
        rubbing = given.rubbing if a.springs.relation_factors else ()
        factors = given.factor if a.springs.scheduled else ()
        masses = (own[[b for b, _ in a.mass_factors]] for own in given.mass)
        strains = (own[timed] for own in given.strain_factor)
        prescribed = np.concatenate([given.moved, *factors, *strains, *given.speed, *rubbing, *masses])
        self.stepper.put(Configuration(*start), *nothing, lambda: np.zeros((len(a.node_body), a.dim)), prescribed)
        self.m = self.stepper.memory
        self.m.decay_share[:] = (1.0 - given.radius) / (1.0 + given.radius)
        self.m.trial_moved[:], self.m.trial_time[:] = prescribed, given.time
        coefficients, offset = given.coefficient, given.offset
        over = given.h, given.inputs, coefficients.before, coefficients.after, offset, offset
        self.over = Given(*over, 0.0 * coefficients.after, 0.0 * offset, 1)
        begin(self.m, self.dim, self.kinds, self.over.h)
        self._rub(given.friction)

    def _rub(self, forces):
        """Let joints rub by forces (d − 1, bearings) along measures and, numbered behind these, curves."""
        m = self.m
        for spring, lever, force in zip(m.bearings_spring.T, m.bearings_lever.T, forces, strict=True):
            for i, own in enumerate(spring):
                if own >= m.trial_rub.size:
                    m.path_rub[own - m.trial_rub.size] = force[i]
                elif own >= 0:
                    m.trial_rub[own] = lever[i] * force[i]

    def residual(self, y):
        """What the step misses at mean velocities and multipliers (n_v + g,)."""
        self._put("x", y)
        evaluate(self.m, self.dim, self.kinds, self.over)
        return self._taken("defect")

    def end(self):
        """The trial end of the residual that was evaluated last, by the names of a state."""
        names = ("r", "R", "u", "v", "w", "du", "sigma", "spring")
        return [getattr(self.m, f"end_{name}").copy() for name in names]

    def solved(self, columns):
        """Solutions (n, k) of the Jacobian at the residual that was evaluated last for right-hand sides (n, k)."""
        self._stand()
        assert factor(self.m, self.dim, self.kinds, self.over)
        solutions = []
        for column in columns.T:
            self._put("defect", column)
            solve(self.m, self.dim, self.kinds, self.over.h)
            solutions.append(self._taken("correction"))
        return np.array(solutions).T

    def _stand(self):
        """Let stresses that run ahead of an iterate stand where it is: the Jacobian is then that of the residual."""
        m = self.m
        m.nodal_ahead[:] = m.end_sigma[m.strains_stress]
        m.solid_ahead[:] = m.end_sigma[m.solids_stress]

    def _put(self, group, y):
        values = [getattr(self.m, f"{group}_{name}") for name in UNKNOWNS]
        values[1][:] = 0.0
        first = 0
        for k, own in enumerate(values):
            size = own[self.turning].size if k == 1 else own.size
            part = y[first : first + size]
            if k == 1:
                own[self.turning] = part.reshape(-1, own.shape[1])
            else:
                own[...] = part.reshape(own.shape)
            first += size

    def _taken(self, group):
        v, w, du, lam = (getattr(self.m, f"{group}_{name}") for name in UNKNOWNS)
        return np.concatenate([v.ravel(), w[self.turning].ravel(), du, lam])
