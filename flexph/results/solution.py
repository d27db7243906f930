"""Results of mechanisms: times, states, joint forces, and the energy ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ..display.labelled import Labels, Variable
from ..display.tables import listed
from ..drawing.viewers import film_of, html_of, open_viewer
from ..files.durable import HDF5_SUFFIXES, refuse_suffix
from ..files.hdf5 import write_hdf5
from ..kernels.state import mass_factors
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import State, angular_momentum
from ..mechanisms.model.time_table import Anchors, law_values, table_of
from ..mechanisms.poses.reactions import Motion, Reaction, motion_before, reaction
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import Memo
from ..sensors.contacts import gaps_of
from ..sensors.panel import histories
from ..sensors.quantities import Quantity
from ..systems.piecewise import Recorded
from .consecutive_runs import joined, narrowed, restricted
from .contact_history import ContactHistory, contact_gaps
from .motion import MotionByName
from .presentation import sensor_labels, write_companions
from .result import Result
from .signature import mechanism_signature
from .state_view import MechanismView

if TYPE_CHECKING:
    import h5py


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Solution(MotionByName, Result, Memo):
    """Result of a mechanism's run: k + 1 saved times, states by part name, multipliers at midpoints, energy ledger.

    ``solution["rod.deformation"]`` is a part of the states, or the multiplier of a named constraint.

    Attributes
    ----------
    times : array
        (k + 1,) [s].
    states : array
        (k + 1, n), in the layout of the mechanism.
    ledger : Ledger
        Energy accounts.
    events : mapping
        Times of each event by name, and the states there; a terminal event is at the last saved time.
    observations : array
        Return values of ``observe``, one row for each saved time.
    mechanism : Mechanism
        Simulated mechanism.
    multiplier_times : array
        Midpoints of the steps that end at the saved times after the first, (k,) [s].
    multipliers : array
        Multipliers (k, g) at the midpoints, of second order.
    stage_multipliers : array
        Multipliers (k, g) of the scheme, which are means over the step; works in the ledger are computed from them.
    anchors : Anchors
        Reference values of joints from their assembly.
    memory : array
        Restart data: mean velocities, multipliers, velocity defects and lengths of the last steps.
    controls : mapping
        Inputs set by controllers at each external port in the step up to each saved time, (k, components), and at ports
        of other controllers, by names such as ``servo: supply``.
    controller_states : mapping
        States of continuous controllers by name at the saved times, (k + 1, n).
    controller_memories : mapping
        Restart data of other controllers by name: for sampled ones ``memory``, current outputs by port, call times, and
        full turns of angles.
    sliders : mapping
        Inputs by external port that sliders of a live run have set, as ``inputs`` that repeat the run.
    holding : array
        For runs whose joints change, (k + 1, connections): one if a connection is active from a saved time on,
        otherwise zero; empty for other runs. The mechanism has all connections that are active at any time.
    """

    mechanism: Mechanism
    multiplier_times: Array
    multipliers: Array
    stage_multipliers: Array
    anchors: Anchors
    memory: Array
    controls: Mapping[str, Array] = field(default_factory=dict)
    controller_states: Mapping[str, Array] = field(default_factory=dict)
    controller_memories: Mapping[str, object] = field(default_factory=dict)
    sliders: Mapping[str, Recorded] = field(default_factory=dict)
    holding: Array = field(default_factory=partial(np.zeros, (0, 0)))

    KIND: ClassVar[str] = "solution"
    VERSION: ClassVar[int] = 6
    SYSTEM: ClassVar[str] = "mechanism"
    LACKING = ("observations", "anchors/rows", "anchors/springs")  # NaN where a row or spring is driven

    def __getitem__(self, part: str) -> Array:
        at: slice = check.lookup("part", part, self.parts)
        states = self.mechanism.layout.size  # multipliers are numbered after the states
        return self.states[:, at] if at.start < states else self.multipliers[:, at.start - states]

    @property
    def parts(self) -> Mapping[str, slice]:
        """Slices of the states and of the multipliers by name; multipliers are numbered after the states."""
        return self.mechanism.layout.parts

    @property
    def _size(self) -> int:
        return self.mechanism.layout.size

    @classmethod
    def signature(cls, system: Mechanism) -> list[str]:
        """Lines of text on a mechanism that a file of its run contains, see :func:`mechanism_signature`."""
        if not isinstance(system, Mechanism):
            raise ValueError(f"mechanism must be a Mechanism, got {type(system).__name__}")
        return mechanism_signature(system)

    @classmethod
    def _refuse_another(cls, saved: list[str], own: list[str]) -> None:
        try:
            super()._refuse_another(saved, own)
        except ValueError as error:
            locks = [[line for line in lines if line.startswith("lock ")] for lines in (saved, own)]
            if locks[0] and not locks[1]:
                message = f"{error}; of a run with changes give flexph.changes.with_changes(mechanism, changes)"
                raise type(error)(message) from None
            raise

    @property
    def final(self) -> State:
        """Last state of the run, from which another run can continue, with the states of controllers by name."""
        own_mechanism, last = self.final_mechanism, np.zeros(self.mechanism.layout.multipliers)
        x, anchors = self.states[-1], self.anchors
        last = self.multipliers[-1] if len(self.multipliers) else last
        if own_mechanism is not self.mechanism:
            x, last, anchors = narrowed(own_mechanism, self.mechanism, (x, last, anchors))
        states = {name: values[-1] for name, values in self.controller_states.items()}
        controllers = states | dict(self.controller_memories)
        reached, stepped = float(self.times[-1]), len(self.multipliers) > 0
        values: dict[str, Any] = {
            "controllers": controllers,
            "joint_forces": stepped,
            "bodies": tuple(self.mechanism.bodies),
        }
        return State(reached, x, last, anchors, self.memory, **values)

    @property
    def final_mechanism(self) -> Mechanism:
        """Mechanism with the joints that are active at the end of the run; :attr:`final` is a state of it."""
        if not self.holding.size:
            return self.mechanism
        holds = self.holding[-1] > 0.0
        return self.mechanism if holds.all() else restricted(self.mechanism, holds)

    @checked
    def measured(self, quantity: Quantity) -> Array:
        """Readings of a sensor at the saved times, (k + 1,) or (k + 1, d); angles are unwrapped.

        Joint forces, which belong to the middles of steps, are interpolated.

        Parameters
        ----------
        quantity : Quantity
            Quantity of :mod:`flexph.sensors`, for example ``joint_angle("arm.root")``.

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
        """Gaps, contact states and forces of a contact or stop over the run.

        Parameters
        ----------
        name : str
            Name of the contact.

        Returns
        -------
        ContactHistory
            Gaps at the saved times, and mean forces between them.
        """
        gaps_of(self.mechanism, name)  # raises with the existing names
        gaps = partial(contact_gaps, self.mechanism, name, self.states)
        spans, impulses = np.diff(self.times), self.ledger.impulses
        return ContactHistory(impulses[f"{name}: normal"] / spans, impulses[f"{name}: friction"] / spans, gaps)

    @checked
    def show(
        self, *, field: str | None = None, scale: float = 1.0, forces: bool = False, viewer: str | None = None
    ) -> None:
        """Show the run as an interactive animation: inside a notebook, or in a window (extra ``view``).

        ``field`` is the name of the coloured field, by default the first one; deformations are multiplied by ``scale``;
        with ``forces``, weights and joint forces are drawn as arrows. ``viewer`` names another viewer of the
        entry-point group ``flexph.viewers``.
        """
        open_viewer(self, viewer, field=field, scale=scale, forces=forces)

    def to_xarray(self, *quantities: Quantity) -> Any:
        """Run as an ``xarray.Dataset`` with coordinates, units and long names.

        It contains parts of the states by name, multipliers at the middle of their steps, and the accounts of the
        ledger; or the readings of given sensors instead.

        Parameters
        ----------
        quantities : Quantity
            Any number of sensors of :mod:`flexph.sensors`, instead of the states.

        Returns
        -------
        xarray.Dataset
            Dataset with the dimensions ``time`` [s] and ``step``, the ends of the steps [s].

        Raises
        ------
        ModuleNotFoundError
            If xarray is missing; the message names the extra to install.

        Examples
        --------
        >>> from flexph.sensors import joint_angle
        >>> solution.to_xarray(joint_angle("crank.root"))  # doctest: +SKIP
        """
        return (self._measured(quantities) if quantities else self._labels()).dataset()

    def to_dataframe(self, *quantities: Quantity) -> Any:
        """States against time, or readings of given sensors, as a ``pandas.DataFrame`` with a column for each number.

        Parameters
        ----------
        quantities : Quantity
            Any number of sensors of :mod:`flexph.sensors`, instead of the states.

        Returns
        -------
        pandas.DataFrame
            Table with the index ``time`` [s]; ``attrs["units"]`` has the units by column.

        Raises
        ------
        ModuleNotFoundError
            If pandas is missing; the message names the extra to install.
        """
        return (self._measured(quantities) if quantities else self._labels()).frame()

    def _measured(self, quantities: tuple[Quantity, ...]) -> Labels:
        return sensor_labels(self.times, quantities, self.measured, {"title": repr(self)[1:-1]})

    def _labels(self) -> Labels:
        labels, names = super()._labels(), np.array(self.mechanism.constraint_names, dtype=str)
        if not len(names):
            return labels
        middles = Variable(("middle",), self.multiplier_times, "s", "middle of the step")
        constraints = Variable(("constraint",), names, "", "constraint by its joint")
        lam = Variable(("middle", "constraint"), np.asarray(self.multipliers), "N or N m", "force of a constraint")
        coordinates = {**labels.coordinates, "middle": middles, "constraint": constraints}
        return replace(labels, variables={**labels.variables, "multipliers": lam}, coordinates=coordinates)

    @property
    def _dim(self) -> int:
        return self.mechanism.layout.dim

    @checked
    def animate(
        self, path: str | Path, *, field: str | None = None, scale: float = 1.0, forces: bool = False, **options: Any
    ) -> Path:
        """Write the run as a film, GIF, WebP or MP4 by the suffix of the path; return its path.

        Parameters
        ----------
        path : path
            Path of the film, such as ``"crank.gif"``.
        field : str, optional
            Name of the coloured field; by default the first one.
        scale : float
            Factor of the deformations.
        forces : bool
            True to show weights and joint forces as arrows.
        **options
            Further options of :func:`flexph.view.write_film`: ``frames``, ``size``, ``rate``, ``background``,
            ``account``, ``towards``, ``title``.

        Returns
        -------
        Path
            The path.

        Raises
        ------
        ModuleNotFoundError
            If Pillow (extra ``plot``), or for MP4 imageio-ffmpeg (extra ``view``), is missing.

        Examples
        --------
        ``solution.animate("crank.gif", scale=5.0, account=True)``
        """
        return film_of(path, self, field=field, scale=scale, forces=forces, **options)

    @checked
    def save(self, path: str | Path, *, scene: bool = True) -> None:
        """Write the run as HDF5 (docs/solution-format.md): an open format, with checksums and without code.

        The file also contains the ``scene`` of the run at up to 101 times, which ``flexph view FILE`` shows without the
        mechanism.

        Parameters
        ----------
        path : path
            Path of the file. A file with this name is replaced only once the new one is complete.
        scene : bool
            True to write the scene, too.

        Raises
        ------
        OSError
            If the file cannot be written, as on a full disk.
        ValueError
            For a path that ends in another suffix than ``.h5`` or ``.hdf5``.

        Examples
        --------
        >>> solution.save("run.h5")  # doctest: +SKIP
        """
        refuse_suffix("a saved run, which is HDF5,", path, HDF5_SUFFIXES)
        write_hdf5(path, self._write_with_scene if scene else self._write)

    def _write_with_scene(self, file: h5py.File) -> None:
        self._write(file)
        write_companions(self, file)

    def _repr_html_(self) -> str:
        """HTML of the interactive animation, which notebooks show for a solution."""
        return html_of(self)

    def linear_momentum(self) -> Array:
        """Linear momentum Σ m ṙ of all bodies at the saved times, (k + 1, d) [N s]."""
        arrays, dim = self.mechanism.network.arrays, self.mechanism.layout.dim
        masses = np.array([arrays.mass * mass_factors(arrays, t) for t in self.times.tolist()])
        motion = self.states[:, self.mechanism.layout.parts_of_motion]
        return np.einsum("kb,kbd->kd", masses, motion[:, : dim * masses.shape[1]].reshape(*masses.shape, dim))

    def angular_momentum(self) -> Array:
        """Angular momentum Σ r × m ṙ + R p_r about the world's origin at the saved times, (k + 1, s) [N m s]."""
        rows = zip(self.states, self.times.tolist(), strict=True)
        return np.array([angular_momentum(self.mechanism, x, time) for x, time in rows])

    def orthogonality(self) -> float:
        """Largest magnitude of an entry of RᵀR − 1 over all rotations R of bodies and all saved times."""
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

        It is of second order, from the multipliers and the pose in the middle of each step.

        Parameters
        ----------
        joint : str
            Name of a joint or drive.
        on : {"first", "second"}
            Body on which the force acts.
        frame : {"world", "first", "second"}
            Axes of the result: of the world, or of the section at a port.

        Returns
        -------
        Reaction
            Force (k, d) [N] and torque (k, s) [N m].
        """
        table = table_of(self.mechanism, self.anchors)
        return reaction(
            self.mechanism, self._poses_at_multipliers(), self.multipliers, table, joint=joint, on=on, frame=frame
        )

    def _poses_at_multipliers(self) -> Motion:
        """Poses at ``multiplier_times``, the middles of the steps that end at saved times.

        They are extrapolated backwards from the states at the saved times.
        """
        return motion_before(
            self.mechanism, self.multiplier_times, self.times[1:] - self.multiplier_times, self.states[1:]
        )

    def followed_by(self, later: Solution) -> Solution:
        """Concatenate the run with a later run, which must have started from :attr:`final`.

        Parameters
        ----------
        later : Solution
            Run of the same mechanism, or of :attr:`final_mechanism`.

        Returns
        -------
        Solution
            Both runs as one.

        Raises
        ------
        ValueError
            If the later run starts at another time or from another state.
        """
        if later.times[0] != self.times[-1] or not np.array_equal(later.states[0], self.final.x):
            raise ValueError(f"the later run must start from the final state of this one, at t = {self.times[-1]} s")
        names = [c.name for c in self.mechanism.connections]
        others = [c for c in later.mechanism.connections if c.name not in names]
        if not others:
            union = later.mechanism if len(names) == len(later.mechanism.connections) else self.mechanism
        else:
            union = self.mechanism.replace(joints=[*self.mechanism.connections, *others])
        whole: Solution = joined([self, later], union)
        return whole

    def _view(self, x: Array) -> MechanismView:
        return MechanismView(self.mechanism, x)

    def _described(self) -> str:
        return f"of {listed(self.mechanism.bodies)}"

    def _shapes(self) -> Iterator[tuple[str, Array, tuple[int, ...]]]:
        yield from super()._shapes()
        k, g = len(self.times) - 1, self.mechanism.layout.multipliers
        yield "multiplier_times", self.multiplier_times, (k,)
        yield "multipliers", self.multipliers, (k, g)
        yield "stage_multipliers", self.stage_multipliers, (k, g)
        slices = self.mechanism.network.input_slices
        for port, values in self.controls.items():
            part = slices.get(port)  # None for a port of a controller
            width = values.shape[1:2] if part is None else (part.stop - part.start,)
            yield f"controls/{port}", values, (k, *width)
        for port, given in self.sliders.items():
            at = slices.get(port, slice(0, 0))
            yield f"sliders/{port}/times", given.times, (len(given.times),)
            yield f"sliders/{port}/values", given.values, (len(given.times), at.stop - at.start)
        for name, values in self.controller_states.items():
            yield f"controller_states/{name}", values, (k + 1, *values.shape[1:2])
        yield "holding", self.holding, (k + 1, len(self.mechanism.connections)) if self.holding.size else (0, 0)
        arrays, bodies = self.mechanism.network.arrays, self.mechanism.layout.frames
        width = bodies * (arrays.dim + arrays.n.shape[0]) + arrays.body_u.size + 2 * g + 1
        is_known = self.memory.size and not self.holding.size  # joints may hold at the end only
        yield "memory", self.memory, (len(self.memory), width if is_known else self.memory.shape[-1])
        values = sum(part.stop - part.start for part in law_values(self.mechanism))
        yield "anchors/rows", self.anchors.rows, (values,)
        yield "anchors/springs", self.anchors.springs, (arrays.springs.stiffness.size,)
