"""Single states, such as equilibria, as solutions: for their stresses, section forces and files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..kernels.state import derive
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.accounts import Accounts
from ..mechanisms.model.consistency import resolution
from ..mechanisms.model.range_of_validity import warn_of_range
from ..mechanisms.model.state import State, configuration
from ..numerics.arguments import checked
from .ledger import make_ledger
from .solution import Solution


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StaticSolution(Solution):
    """Solution with a single state; :attr:`final` is this state, with its joint forces.

    A saved file does not contain the joint forces; :meth:`Solution.load` reads it.
    """

    state: State

    UNSAVED: ClassVar[tuple[str, ...]] = ("state",)

    @property
    def final(self) -> State:
        """State of the solution as it was given, with joint forces and controllers."""
        return self.state


@checked
def static_solution(mechanism: Mechanism, state: State) -> Solution:
    """Solution with a single saved time, from a state of a mechanism.

    It supports the evaluations of a run at saved times: ``solution["rod.stress"][0]``, positions,
    :func:`section_forces`, ``export.stress_envelope``, and ``export.write_series``, in which displacements are those of
    the deformation. The ledger contains the energies; ``final`` is the state, and joint forces are those of
    ``mechanism.reaction(state, joint)``.

    Warns (:class:`flexph.ValidityWarning`) if a body leaves the range of its model.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    state : State
        State of the mechanism, for example from :meth:`Mechanism.equilibrium`.

    Returns
    -------
    Solution
        Solution with one saved time and no steps.

    Raises
    ------
    ValueError
        If ``state`` is no state of this mechanism.
    """
    if not isinstance(state, State):
        raise ValueError(f"state must be a State, see mechanism.equilibrium(pose), got {type(state).__name__}")
    size, constraints = mechanism.layout.size, mechanism.layout.multipliers
    if state.x.shape != (size,):
        raise ValueError(f"state must have the {size} entries of this mechanism, got {state.x.size}")
    accounts = mechanism.once(Accounts)
    arrays, c = mechanism.network.arrays, configuration(mechanism, state.x)
    none, energy = np.zeros((0, constraints)), accounts.energies(c, derive(arrays, c), state.time)[None, :]
    flows = np.zeros((0, accounts.flow_count))
    resolved = resolution(mechanism, state.x[None, :], np.zeros(0))
    warn_of_range(mechanism, np.array([state.time]), state.x[None])
    return StaticSolution(
        mechanism=mechanism,
        state=state,
        times=np.array([state.time]),
        states=state.x[None, :],
        multiplier_times=np.zeros(0),
        multipliers=none,
        stage_multipliers=none,
        ledger=make_ledger(accounts, energy, flows, _NO_STEPS, resolution=resolved),
        anchors=state.anchors,
        memory=state.memory,
    )


_NO_STEPS = [np.zeros(0)] * 7
