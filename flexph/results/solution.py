"""Runs of mechanisms: times, states, joint forces, and the energy ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from ..drawing.viewers import film_of, html_of, open_viewer
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import State, angular_momentum, configuration
from ..mechanisms.model.time_table import Anchors, law_values, table_of
from ..mechanisms.poses.reactions import Motion, Reaction, reaction
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.rotations import cayley
from ..sensors.contacts import gaps_of
from ..sensors.panel import histories
from ..sensors.quantities import Quantity
from .contact_history import ContactHistory, contact_gaps
from .ledger import join_ledgers
from .motion import MotionByName
from .result import Occurrences, Result
from .signature import mechanism_signature
from .state_view import MechanismView


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Solution(MotionByName, Result):
    """A run: k + 1 saved times, states by part name, multipliers at midpoints, and the energy ledger.

    ``solution["rod.deformation"]`` is a part of the states, or the multiplier of a constraint name.

    Attributes
    ----------
    times : array
        (k + 1,) [s].
    states : array
        (k + 1, n), in the layout of the mechanism.
    ledger : Ledger
        Energy accounts.
    events : mapping
        By name when each event occurred, and the states there; a terminal one is the last saved time.
    observations : array
        What ``observe`` returned, a row for each saved time.
    mechanism : Mechanism
        What ran.
    multiplier_times : array
        (k,) [s], the midpoint of the step that ends at each saved time.
    multipliers : array
        (k, g), of second order.
    stage_multipliers : array
        (k, g): the scheme's own, means over the step, whose work is in the ledger.
    anchors : Anchors
        What joints keep as assembled.
    memory : array
        What the next step starts from: mean velocities, multipliers, velocity defects and lengths of the last steps.
    steps_by : str
        What took the steps: compiled loops, and how many these left to NumPy, or NumPy and why; either is the same run
        up to round-off.
    controls : mapping
        By external port what controllers held there in the step up to each saved time, (k, components), and what they
        commanded at ports of other controllers, by names such as ``servo: supply``.
    controller_states : mapping
        By name, states of continuous controllers at the saved times, (k + 1, n).
    controller_memories : mapping
        By name, what other controllers go on from at the end of the run: the ``memory`` of a sampled one, what it holds
        by port and when it is called, which turns its angles are in.
    """

    mechanism: Mechanism
    multiplier_times: Array
    multipliers: Array
    stage_multipliers: Array
    anchors: Anchors
    memory: Array
    steps_by: str = "NumPy"
    controls: Mapping[str, Array] = field(default_factory=dict)
    controller_states: Mapping[str, Array] = field(default_factory=dict)
    controller_memories: Mapping[str, object] = field(default_factory=dict)

    KIND: ClassVar[str] = "solution"
    VERSION: ClassVar[int] = 4
    SYSTEM: ClassVar[str] = "mechanism"
    LACKING = ("observations", "anchors/rows", "anchors/springs")  # NaN where a row or spring is driven

    def __getitem__(self, part: str) -> Array:
        at: slice = check.lookup("part", part, self.parts)
        states = self.mechanism.layout.size  # constraints follow them
        return self.states[:, at] if at.start < states else self.multipliers[:, at.start - states]

    @property
    def parts(self) -> Mapping[str, slice]:
        """Entries of the states, and of the multipliers that follow them, by name."""
        return self.mechanism.layout.parts

    @property
    def _size(self) -> int:
        return self.mechanism.layout.size

    @classmethod
    def signature(cls, system: Mechanism) -> list[str]:
        """See :func:`mechanism_signature`."""
        if not isinstance(system, Mechanism):
            raise ValueError(f"mechanism must be a Mechanism, got {type(system).__name__}")
        return mechanism_signature(system)

    @property
    def final(self) -> State:
        """The last state, from which a run can be continued; controllers of the same name go on, too."""
        last = self.multipliers[-1] if len(self.multipliers) else np.zeros(self.mechanism.layout.multipliers)
        states = {name: own[-1] for name, own in self.controller_states.items()}
        controllers = states | dict(self.controller_memories)
        reached, stepped = float(self.times[-1]), len(self.multipliers) > 0
        return State(
            reached, self.states[-1], last, self.anchors, self.memory, controllers=controllers, joint_forces=stepped
        )

    @checked
    def measured(self, quantity: Quantity) -> Array:
        """What a sensor would have read at the saved times, (k + 1,) or (k + 1, d); angles count full turns.

        Joint forces, which only runs have, are interpolated.

        Parameters
        ----------
        quantity : Quantity
            One of :mod:`flexph.sensors`, such as ``joint_angle("arm.root")``.

        Returns
        -------
        array
            (k + 1,) or (k + 1, d).
        """
        if quantity.of_run is not None:
            return quantity.of_run(self)
        name = str(quantity)
        return histories(self.mechanism, {name: quantity}, self.states)[name]

    @checked
    def contact(self, name: str) -> ContactHistory:
        """Gaps of a contact or stop, whether they touch, and its normal and friction forces over the run.

        Parameters
        ----------
        name : str
            Name of the contact.

        Returns
        -------
        ContactHistory
            Gaps at the saved times, forces in the mean between them.
        """
        gaps_of(self.mechanism, name)  # or the names that there are
        gaps = partial(contact_gaps, self.mechanism, name, self.states)
        spans, own = np.diff(self.times), self.ledger.impulses
        return ContactHistory(own[f"{name}: normal"] / spans, own[f"{name}: friction"] / spans, gaps)

    @checked
    def show(
        self, *, field: str | None = None, scale: float = 1.0, forces: bool = False, viewer: str | None = None
    ) -> None:
        """Show the run as it turns and plays: in a notebook within it, else in a window (extra ``view``).

        ``field`` is in colour, the first one if None; deformations are ``scale``-fold; with ``forces``, weights and
        forces of joints are arrows. ``viewer``: another one that is registered under ``flexph.viewers``.
        """
        open_viewer(self, viewer, field=field, scale=scale, forces=forces)

    @checked
    def animate(
        self, path: str | Path, *, field: str | None = None, scale: float = 1.0, forces: bool = False, **options: Any
    ) -> Path:
        """Write the run as a film, GIF, WebP or MP4 by the suffix of the path; returns its path.

        Parameters
        ----------
        path : path
            Where the film comes to, such as ``"crank.gif"``.
        field : str, optional
            Name of the field in colour; by default the first one.
        scale : float
            Factor of the deformations.
        forces : bool
            Whether weights and forces of joints are shown as arrows.
        **options
            Further ones of :func:`flexph.view.write_film`: ``frames``, ``size``, ``rate``, ``background``, ``account``,
            ``towards``, ``title``.

        Returns
        -------
        Path
            The path.

        Raises
        ------
        ModuleNotFoundError
            Without Pillow (extra ``plot``), or of MP4 without imageio-ffmpeg (extra ``view``).

        Examples
        --------
        ``solution.animate("crank.gif", scale=5.0, account=True)``
        """
        return film_of(path, self, field=field, scale=scale, forces=forces, **options)

    def _repr_html_(self) -> str:
        """The live view, which notebooks show."""
        return html_of(self)

    def linear_momentum(self) -> Array:
        """Σ m ṙ of all bodies at the saved times, (k + 1, d) [N s]."""
        masses, dim = self.mechanism.network.arrays.mass, self.mechanism.layout.dim
        motion = self.states[:, self.mechanism.layout.parts_of_motion]
        return np.einsum("b,kbd->kd", masses, motion[:, : dim * masses.size].reshape(-1, masses.size, dim))

    def angular_momentum(self) -> Array:
        """Σ r × m ṙ + R p_r of all bodies about the origin of the world at the saved times, (k + 1, s) [N m s]."""
        return np.array([angular_momentum(self.mechanism, x) for x in self.states])

    def orthogonality(self) -> float:
        """Largest entry of RᵀR − 1 of any body at any saved time."""
        defects = [0.0]
        for name in self.mechanism.bodies:
            R = self.rotations(name)
            defects.append(float(np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(R.shape[-1])).max()))
        return max(defects)

    @checked
    def reaction(
        self,
        joint: str,
        *,
        on: Literal["first", "second"] = "first",
        frame: Literal["world", "first", "second"] = "world",
    ) -> Reaction:
        """Force and torque of a joint or drive on one of its bodies at ``multiplier_times`` (see :class:`Reaction`).

        Of second order: the multipliers, and the place of the bodies half a step before each saved time.

        Parameters
        ----------
        joint : str
            Name of a joint or drive.
        on : {"first", "second"}
            On which of its bodies it acts.
        frame : {"world", "first", "second"}
            Axes of the result: of the world, or of the section at a port.

        Returns
        -------
        Reaction
            Force (k, d) [N] and torque (k, s) [N m].
        """
        table = table_of(self.mechanism, self.anchors)
        return reaction(self.mechanism, self._middles(), self.multipliers, table, joint=joint, on=on, frame=frame)

    def _middles(self) -> Motion:
        """Placements in the middle of the steps that end at the saved times, extrapolated from their ends."""
        m, dim = self.mechanism, self.mechanism.layout.dim
        back = self.times[1:] - self.multiplier_times
        state = [configuration(m, x) for x in self.states[1:]]
        stack = lambda name: np.array([getattr(c, name) for c in state])  # noqa: E731
        count = (len(back), m.layout.frames)
        turn = (-0.5 * back[:, None, None] * stack("omega").reshape(*count, -1)).reshape(count[0] * count[1], -1)
        turned = cayley(turn, dim).reshape(*count, dim, dim)
        return Motion(
            self.multiplier_times,
            stack("r").reshape(*count, dim) - back[:, None, None] * stack("v").reshape(*count, dim),
            stack("R").reshape(*count, dim, dim) @ turned,
            stack("u").reshape(len(back), m.layout.flexible)
            - back[:, None] * stack("du").reshape(len(back), m.layout.flexible),
        )

    def followed_by(self, later: Solution) -> Solution:
        """Both runs as one; the later one must have started from :attr:`final`.

        Parameters
        ----------
        later : Solution
            A run of the same mechanism.

        Returns
        -------
        Solution
            One run.
        """
        if later.times[0] != self.times[-1] or not np.array_equal(later.states[0], self.states[-1]):
            raise ValueError(f"the later run must start from the final state of this one, at t = {self.times[-1]} s")
        joined: dict[str, Any] = {"ledger": join_ledgers([self.ledger, later.ledger])}
        for name in ("multiplier_times", "multipliers", "stage_multipliers"):
            joined[name] = np.concatenate([getattr(self, name), getattr(later, name)])
        joined["controls"] = {
            port: np.concatenate([_held(run, port, values.shape[1]) for run in (self, later)])
            for port, values in (dict(self.controls) | dict(later.controls)).items()
        }
        both = self.controller_states.keys() & later.controller_states.keys()
        joined["controller_states"] = {
            name: np.vstack([self.controller_states[name], own[1:]])
            for name, own in later.controller_states.items()
            if name in both
        }
        return replace(
            later,
            times=np.append(self.times, later.times[1:]),
            states=np.vstack([self.states, later.states[1:]]),
            events=_joined_events(self.events, later.events),
            **joined,
        )

    def _view(self, x: Array) -> MechanismView:
        return MechanismView(self.mechanism, x)

    def _described(self) -> str:
        return f"of {', '.join(self.mechanism.bodies)}"

    def _shapes(self) -> Iterator[tuple[str, Array, tuple[int, ...]]]:
        yield from super()._shapes()
        k, g = len(self.times) - 1, self.mechanism.layout.multipliers
        yield "multiplier_times", self.multiplier_times, (k,)
        yield "multipliers", self.multipliers, (k, g)
        yield "stage_multipliers", self.stage_multipliers, (k, g)
        slices = self.mechanism.network.input_slices
        for port, values in self.controls.items():
            part = slices.get(port)  # None of a port of a controller
            width = values.shape[1:2] if part is None else (part.stop - part.start,)
            yield f"controls/{port}", values, (k, *width)
        for name, values in self.controller_states.items():
            yield f"controller_states/{name}", values, (k + 1, *values.shape[1:2])
        arrays, bodies = self.mechanism.network.arrays, self.mechanism.layout.frames
        width = bodies * (arrays.dim + arrays.n.shape[0]) + arrays.body_u.size + 2 * g + 1
        yield "memory", self.memory, (len(self.memory), width if self.memory.size else self.memory.shape[-1])
        values = sum(part.stop - part.start for part in law_values(self.mechanism))
        yield "anchors/rows", self.anchors.rows, (values,)
        yield "anchors/springs", self.anchors.springs, (arrays.springs.stiffness.size,)


def _held(run: Solution, port: str, width: int) -> Array:
    """What controllers held at a port, zeros where there were none."""
    return run.controls.get(port, np.zeros((len(run.times) - 1, width)))


def _joined_events(first: Mapping[str, Occurrences], second: Mapping[str, Occurrences]) -> dict[str, Occurrences]:
    """What occurred in two runs, by name; an event may have been watched for in one of them only."""
    joined = {**first, **second}
    for name in first.keys() & second.keys():
        a, b = first[name], second[name]
        joined[name] = Occurrences(np.append(a.times, b.times), np.vstack([a.states, b.states]))
    return joined
