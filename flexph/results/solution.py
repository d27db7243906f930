"""Solutions: what a run returns, and how it is kept on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import h5py
import numpy as np

from ..bodies.body import Body, Port
from ..joints.rows.connection import Measure, measures
from ..joints.rows.laws import Law
from ..mechanisms.model.accounts import NUMERICAL, Accounts
from ..mechanisms.model.state import State, angular_momentum, configuration
from ..mechanisms.model.time_table import Anchors, TimeTable, law_values
from ..mechanisms.poses.reactions import Motion, Reaction, reaction
from ..mechanisms.poses.resolution import Resolution, resolution
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.rotations import cayley, from_entries, skew, spins
from ..systems.resistive_relations import Relation
from .ledger import Ledger, make_ledger
from .storage import put, texts, write_whole
from .trajectory import Occurrences

if TYPE_CHECKING:
    from ..mechanisms.mechanism import Mechanism

FORMAT = "flexph solution 1"


@dataclass(frozen=True, repr=False)
class Solution:
    """A run: k + 1 saved times, states by part name, multipliers at midpoints, and the energy ledger.

    times (k + 1,) [s]; states (k + 1, n) in the layout of the mechanism; multipliers (k, g) at ``multiplier_times``
    (k,), the midpoint of the step that ends at each saved time: of second order. ``stage_multipliers`` (k, g) are the
    scheme's own, means over the step, whose work the ledger books.
    ``solution["rod.deformation"]`` is a part of the states, or the multiplier of a constraint name. ``memory`` holds
    what the next step starts from: mean velocities, multipliers, velocity defects and lengths of the last steps.
    ``events`` by name: when each event occurred, and the states there; a terminal one is the last saved time.
    """

    mechanism: Mechanism
    times: Array
    states: Array
    multiplier_times: Array
    multipliers: Array
    stage_multipliers: Array
    ledger: Ledger
    anchors: Anchors
    memory: Array
    events: Mapping[str, Occurrences] = field(default_factory=dict)

    def __repr__(self) -> str:
        span = f"{self.times[0]:.6g} to {self.times[-1]:.6g} s"
        return f"<Solution of {', '.join(self.mechanism.bodies)}: {len(self.times)} times from {span}>"

    def __getitem__(self, part: str) -> Array:
        at: slice = check.lookup("part", part, self.mechanism.layout.parts)
        states = self.mechanism.layout.size  # constraints follow them
        return self.states[:, at] if at.start < states else self.multipliers[:, at.start - states]

    @property
    def final(self) -> State:
        """The last state, from which a run can be continued."""
        last = self.multipliers[-1] if len(self.multipliers) else np.zeros(self.mechanism.layout.multipliers)
        return State(float(self.times[-1]), self.states[-1], last, self.anchors, self.memory)

    def rotations(self, body: str) -> Array:
        """Rotation matrices of a body at the saved times, (k + 1, d, d)."""
        b, dim = check.lookup("body", body, self.mechanism.bodies), self.mechanism.layout.dim
        if not b.turns:
            return np.broadcast_to(np.eye(dim), (len(self.times), dim, dim))
        return from_entries(self[f"{body}.rotation"], dim)

    def spin(self, body: str) -> Array:
        """Spin of the frame of a body in world axes at the saved times, (k + 1, s) [rad/s]."""
        b, dim = check.lookup("body", body, self.mechanism.bodies), self.mechanism.layout.dim
        if not b.turns:
            return np.zeros((len(self.times), spins(dim)))
        own = self[f"{body}.spin"]
        return own if dim == 2 else np.einsum("tij,tj->ti", self.rotations(body), own)

    def linear_momentum(self) -> Array:
        """Σ m ṙ of all bodies at the saved times, (k + 1, d) [N s]."""
        return sum(b.mass * self[f"{name}.velocity"] for name, b in self.mechanism.bodies.items())  # type: ignore

    def angular_momentum(self) -> Array:
        """Σ r × m ṙ + R p_r of all bodies about the origin of the world at the saved times, (k + 1, s) [N m s]."""
        return np.array([angular_momentum(self.mechanism, x) for x in self.states])

    def orthogonality(self) -> float:
        """Largest entry of RᵀR − 1 of any body at any saved time."""
        defects = [0.0]
        for name in self.mechanism.bodies:
            R = self.rotations(name)
            defects.append(float(np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(R.shape[-1])).max()))
        return max(defects)

    def energy_drift(self) -> float:
        """Largest |H(t) − H(0) − work + dissipation| over ``ledger.scale``: what all residuals add up to."""
        ledger = self.ledger
        moved = sum(ledger.work.values(), np.zeros(len(self.times) - 1))
        moved = moved - sum(ledger.dissipation.values(), np.zeros(len(self.times) - 1))
        total = ledger.total_energy
        drift = total[1:] - total[0] - np.cumsum(moved)
        return float(ledger.relative(drift, np.cumsum(ledger.steps)).max(initial=0.0))

    def reaction(
        self,
        joint: str,
        *,
        on: Literal["first", "second"] = "first",
        frame: Literal["world", "first", "second"] = "world",
    ) -> Reaction:
        """Force and torque of a joint or drive on one of its bodies at ``multiplier_times`` (see :class:`Reaction`).

        Of second order: the multipliers, and the place of the bodies half a step before each saved time.
        """
        table = TimeTable(self.mechanism, self.anchors)
        return reaction(self.mechanism, self._middles(), self.multipliers, table, joint, on, frame)

    def _middles(self) -> Motion:
        """Placements in the middle of the steps that end at the saved times, extrapolated from their ends."""
        m, dim = self.mechanism, self.mechanism.layout.dim
        back = self.times[1:] - self.multiplier_times
        state = [configuration(m, x) for x in self.states[1:]]
        stack = lambda name: np.array([getattr(c, name) for c in state])  # noqa: E731
        count = (len(back), len(m.bodies))
        turn = (-0.5 * back[:, None, None] * stack("omega").reshape(*count, -1)).reshape(count[0] * count[1], -1)
        turned = cayley(turn, dim).reshape(*count, dim, dim)
        return Motion(
            self.multiplier_times,
            stack("r").reshape(*count, dim) - back[:, None, None] * stack("v").reshape(*count, dim),
            stack("R").reshape(*count, dim, dim) @ turned,
            stack("u").reshape(len(back), m.layout.flexible)
            - back[:, None] * stack("du").reshape(len(back), m.layout.flexible),
        )

    def deformation(self, body: str) -> Array:
        """Flexible coordinates of a body at the saved times, (k + 1, n)."""
        b = check.lookup("body", body, self.mechanism.bodies)
        return self[f"{body}.deformation"] if b.size else np.zeros((len(self.times), 0))

    def points(self, body: str, positions: Array, shape: Any) -> Array:
        """World positions of material points with shape rows (p·d, n) at the saved times, (k + 1, p, d) [m]."""
        b, dim = check.lookup("body", body, self.mechanism.bodies), self.mechanism.layout.dim
        u = self.deformation(body)
        mean = u @ b.inertia.mean_shape.T
        local = positions - b.inertia.centre + (shape @ u.T).T.reshape(len(u), -1, dim) - mean[:, None]
        return self[f"{body}.centre"][:, None] + np.einsum("tij,tpj->tpi", self.rotations(body), local)

    def velocities(self, body: str, positions: Array, shape: Any) -> Array:
        """World velocities of material points with shape rows (p·d, n) at the saved times, (k + 1, p, d) [m/s]."""
        b, dim = check.lookup("body", body, self.mechanism.bodies), self.mechanism.layout.dim
        centre = self[f"{body}.centre"][:, None]
        arm = self.points(body, positions, shape) - centre
        found = self[f"{body}.velocity"][:, None] + np.einsum("tij,tpj->tpi", skew(self.spin(body), dim), arm)
        if b.size:
            rate = self[f"{body}.deformation_rate"]
            local = (shape @ rate.T).T.reshape(arm.shape) - (rate @ b.inertia.mean_shape.T)[:, None]
            found += np.einsum("tij,tpj->tpi", self.rotations(body), local)
        return found

    def position(self, port: str) -> Array:
        """World position of a port at the saved times, (k + 1, d) [m]."""
        body, at = self._port(port)
        return self.points(body, at.position[None, :], at.shape)[:, 0]

    def velocity(self, port: str) -> Array:
        """World velocity of a port at the saved times, (k + 1, d) [m/s]."""
        body, at = self._port(port)
        return self.velocities(body, at.position[None, :], at.shape)[:, 0]

    def displacement(self, port: str) -> Array:
        """Deformation displacement φu at a port, in body axes, at the saved times, (k + 1, d) [m]."""
        body, at = self._port(port)
        return (at.shape @ self.deformation(body).T).T

    def _port(self, port: str) -> tuple[str, Port]:
        from ..bodies.ports import find_port

        index, at = find_port(port, self.mechanism.bodies)
        return list(self.mechanism.bodies)[index], at

    def followed_by(self, later: Solution) -> Solution:
        """Both runs as one; the later one must have started from :attr:`final`."""
        if later.times[0] != self.times[-1] or not np.array_equal(later.states[0], self.states[-1]):
            raise ValueError(f"the later run must start from the final state of this one, at t = {self.times[-1]} s")
        sizes = len(self.multiplier_times), len(later.multiplier_times)
        both = lambda name: _chain(getattr(self.ledger, name), getattr(later.ledger, name), sizes)  # noqa: E731
        ledger = Ledger(
            energy=_chain(self.ledger.energy, {k: v[1:] for k, v in later.ledger.energy.items()}, sizes),
            **{name: both(name) for name in _FLOWS},
            resolution=Resolution(*map(max, self.ledger.resolution, later.ledger.resolution)),
        )
        return replace(
            later,
            times=np.append(self.times, later.times[1:]),
            states=np.vstack([self.states, later.states[1:]]),
            multiplier_times=np.append(self.multiplier_times, later.multiplier_times),
            multipliers=np.vstack([self.multipliers, later.multipliers]),
            stage_multipliers=np.vstack([self.stage_multipliers, later.stage_multipliers]),
            ledger=ledger,
            events=_both_events(self.events, later.events),
        )

    def save(self, path: str | Path) -> None:
        """Write the run as HDF5 (docs/solution-format.md): open, checksummed, without code in it.

        The file appears whole or not at all: it is written beside its place and then put there.
        """
        write_whole(path, self._write)

    def _write(self, file: h5py.File) -> None:
        file.attrs["format"] = FORMAT
        file.attrs["layout"] = texts(_signature(self.mechanism))
        for name in _ARRAYS:
            put(file, name, getattr(self, name))
        put(file, "anchors/rows", self.anchors.rows)
        put(file, "anchors/springs", self.anchors.springs)
        for group in ("energy", "work", "joint_work", "dissipation"):
            accounts = getattr(self.ledger, group)
            rows = len(self.times) - (group != "energy")
            columns = np.array(list(accounts.values())).reshape(len(accounts), rows).T
            put(file, f"ledger/{group}", columns).attrs["columns"] = texts(accounts)
        for name in ("residual", "position_residual", "velocity_residual", "iterations"):
            put(file, f"ledger/{name}", getattr(self.ledger, name))
        if any(not row.law.holonomic for c in self.mechanism.connections for row in c.rows):
            put(file, "ledger/nonholonomic_residual", self.ledger.nonholonomic_residual)
        counts = np.column_stack([self.ledger.steps, self.ledger.rejected])
        if np.any(counts != (1, 0)):
            put(file, "ledger/steps", counts)
        for name, event in self.events.items():
            put(file, f"events/{name}/times", event.times)
            put(file, f"events/{name}/states", event.states)

    @staticmethod
    def load(path: str | Path, mechanism: Mechanism) -> Solution:
        """Read a run back. The mechanism is given again, since drives and joints are not stored; it must fit.

        Raises ValueError for a file that is missing, damaged, of another format, or of another mechanism.
        """
        if not Path(path).is_file():
            raise ValueError(f"cannot read the saved run {str(path)!r}: there is no such file")
        try:
            with h5py.File(path, "r") as file:
                return _read(file, mechanism)
        except (OSError, KeyError, RuntimeError) as error:
            raise ValueError(
                f"cannot read the saved run {str(path)!r}: damaged or not a flexph solution ({error})"
            ) from None


_ARRAYS = ("times", "states", "multiplier_times", "multipliers", "stage_multipliers", "memory")
_FLOWS = (
    "work",
    "joint_work",
    "dissipation",
    "residual",
    "position_residual",
    "velocity_residual",
    "nonholonomic_residual",
    "iterations",
    "steps",
    "rejected",
)


def _chain(first: Any, second: Any, sizes: tuple[int, int]) -> Any:
    """One after the other, of accounts by name; those that only one has are zero in the other, of its steps."""
    if not isinstance(first, Mapping):
        return np.append(first, second)
    both = {k: np.append(first[k], second[k]) for k in first if k in second}
    alone = {k: np.append(first[k], np.zeros(sizes[1])) for k in first if k not in second}
    return both | alone | {k: np.append(np.zeros(sizes[0]), second[k]) for k in second if k not in first}


def _both_events(first: Mapping[str, Occurrences], second: Mapping[str, Occurrences]) -> dict[str, Occurrences]:
    """What occurred in two runs, by name; an event may have been watched for in one of them only."""
    found = {**first, **second}
    for name in first.keys() & second.keys():
        a, b = first[name], second[name]
        found[name] = Occurrences(np.append(a.times, b.times), np.vstack([a.states, b.states]))
    return found


def _signature(mechanism: Mechanism) -> list[str]:
    """What a saved run and a mechanism must share: parts and their places, accounts, and the bodies' constants."""
    accounts = mechanism.once(Accounts)
    parts = [f"{k} {s.start} {s.stop}" for k, s in mechanism.layout.parts.items()]
    names = [*accounts.energy, *accounts.work, *accounts.joint_work, *accounts.dissipation]
    joints = [f"{c.name}: {row.name} {_digest(_measured(row.law))}" for c in mechanism.connections for row in c.rows]
    springs = [f"{name}: {m.stiffness:.9g} {_resists(m)}" for name, m in measures(mechanism.connections)]
    bodies = [f"{name}: {_constants(body)}" for name, body in mechanism.bodies.items()]
    return parts + names + joints + bodies + springs + ["gravity " + " ".join(f"{g:.9g}" for g in mechanism.gravity)]


def _measured(law: Law) -> Any:
    """What a constraint is about; of laws of products alone, only these."""
    return (law.weighed, law.turns) if law.weighed else law.products


def _resists(measure: Measure) -> str:
    return str(measure.damping) if isinstance(measure.damping, Relation) else f"{measure.damping:.9g}"


def _digest(products: Any) -> str:
    """A mark of the points and directions that a constraint is about."""
    return hashlib.sha256(repr(products).encode()).hexdigest()[:12]


def _constants(body: Body) -> str:
    """Mass, inertia, flexibility and port positions of a body to 9 digits."""
    inertia = [body.mass, *np.ravel(body.inertia.first), *np.ravel(body.inertia.second), *np.ravel(body.inertia.spin)]
    flexibility = [check.norm(body.elasticity.compliance)] if body.elasticity else []
    ports = [x for port in body.ports.values() for x in port.position]
    return " ".join(f"{x:.9g}" for x in (*inertia, *flexibility, *ports))


def _check_shapes(get: Callable[[str], Array], mechanism: Mechanism) -> None:
    """Raise OSError unless the arrays of a file fit each other and the mechanism, and hold numbers."""
    k, g = len(get("multiplier_times")), mechanism.layout.multipliers
    shapes = {
        "times": (k + 1,),
        "states": (k + 1, mechanism.layout.size),
        "multipliers": (k, g),
        "stage_multipliers": (k, g),
        "anchors/rows": (sum(s.stop - s.start for s in law_values(mechanism)),),
    }
    for name, shape in shapes.items():
        if get(name).shape != shape:
            raise OSError(f"{name} has shape {get(name).shape}, expected {shape}")
    for name in _ARRAYS:
        if get(name).dtype.kind != "f" or not np.all(np.isfinite(get(name))):
            raise OSError(f"{name} holds what is no number")


def _read(file: h5py.File, mechanism: Mechanism) -> Solution:
    if file.attrs.get("format") != FORMAT:
        raise OSError(f"format is {file.attrs.get('format')!r}, expected {FORMAT!r}")
    saved, own = [t.decode() for t in file.attrs["layout"]], _signature(mechanism)
    if saved != own:
        differing = next((f"{a!r} there, {b!r} here" for a, b in zip(saved, own, strict=False) if a != b), "its length")
        raise ValueError(f"the saved run belongs to another mechanism: {differing}")
    get: Callable[[str], Any] = lambda name: np.asarray(file[name][()])  # noqa: E731
    flows = np.hstack([get(f"ledger/{g}") for g in ("work", "joint_work", "dissipation")])
    audit = [get(f"ledger/{n}") for n in ("residual", "position_residual", "velocity_residual", "iterations")]
    slip = "ledger/nonholonomic_residual"
    audit.insert(3, get(slip) if slip in file else np.zeros_like(audit[0]))
    counts = get("ledger/steps") if "ledger/steps" in file else np.tile([1.0, 0.0], (len(audit[0]), 1))
    decaying = NUMERICAL.encode() in file["ledger/dissipation"].attrs["columns"]
    _check_shapes(get, mechanism)
    accounts, rows = Accounts(mechanism, decaying=decaying), np.column_stack([*audit, counts])
    resolved = resolution(mechanism, get("states"), np.diff(get("times")) / counts[:, 0])
    return Solution(
        mechanism=mechanism,
        **{name: get(name) for name in _ARRAYS},
        ledger=make_ledger(accounts, get("ledger/energy"), flows, rows, resolution=resolved),
        anchors=Anchors(get("anchors/rows"), get("anchors/springs")),
        events=_read_events(file, mechanism),
    )


def _read_events(file: h5py.File, mechanism: Mechanism) -> dict[str, Occurrences]:
    found = {}
    for name, group in file.get("events", {}).items():
        event = Occurrences(group["times"][()], group["states"][()])
        if event.states.shape != (event.times.size, mechanism.layout.size):
            raise OSError(f"events/{name}/states has shape {event.states.shape}")
        found[name] = event
    return found
