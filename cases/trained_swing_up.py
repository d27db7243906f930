"""A small network swings a flexible pendulum up, trained by the exact derivatives of its runs.

A hub with a motor carries a light flexible arm with a load at its tip. The torque of the motor is too small to lift the
load directly, so the pendulum must be swung up. Every 50 ms a network reads the angle of the hub, its only input,
and sets the torque u = U tanh(vᵀ tanh(W s + b) + c) of s = (cos α, sin α, Δα/(8 T)), Δα the change in a period.

Training minimises a cost Φ(α, u) of the angles αⱼ and torques uₖ of the periods over the weights w. A run with given
torques has the derivatives S = ∂α/∂u (:class:`flexph.gradients.Responses`), lower triangular as causes precede effects.
With the feedback u = π(α, w) the total derivative with respect to each torque follows backwards in time,

    Dₖ = ∂Φ/∂uₖ + Σⱼ (∂Φ/∂αⱼ + Σᵢ Dᵢ ∂πᵢ/∂αⱼ) Sⱼₖ,   dΦ/dw = Σₖ Dₖ ∂πₖ/∂w.

So the weights are trained through the run with its feedback, as networks of torch are by
``flexph.exchange.to_torch``; here products with transposed derivatives are written out. The trained network controls
the same mechanism as a sampled controller, with an exact balance. It is trained for one load and one run only, and not
for holding the arm up after this run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

import fem
import rigid
from flexph import GROUND, Mechanism, Solution, connect, hinge, integrate, torque, weld
from flexph.case import Case, Check, Option
from flexph.control import Sampled
from flexph.export.tables import write_table
from flexph.gradients import Responses
from flexph.mechanisms.model.state import State
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.sensors import joint_angle

from .checks import at_most, near, vanishes
from .files import write_run

STEEL = fem.Material(young=2.1e11, density=7850.0)
LENGTH, WIDTH, HEIGHT = 0.5, 0.02, 0.003  # of the arm [m]
LOAD, HUB = 0.3, 0.01  # [kg], [kg m²]
LARGEST = 0.8  # torque [N m]; the weights exert up to 2.05 N m
PERIOD, END, RISE = 0.05, 3.0, 2.2  # of the controller, of the run, and until the arm is up [s]
FIRST = 0.05  # angle at the start, from hanging [rad]
HIDDEN = 8
ARM = STEEL.density * LENGTH * WIDTH * HEIGHT  # mass of the arm [kg]
INERTIA = HUB + LOAD * LENGTH**2 + ARM * LENGTH**2 / 3.0  # about the hub [kg m²]
WEIGHT = 9.81 * (LOAD * LENGTH + 0.5 * ARM * LENGTH)  # moment of the weight of the straight arm [N m]


class Network(NamedTuple):
    """Weights of the network with h hidden units.

    They are W (h, 3) and b (h,) of the hidden layer, v (h,) and c of the output.
    """

    W: Array
    b: Array
    v: Array
    c: float

    @classmethod
    def of(cls, w: Array) -> Network:
        """Network with the weights of the vector ``w`` (5h + 1,), in the order W, b, v, c."""
        h = HIDDEN
        return cls(w[: 3 * h].reshape(h, 3), w[3 * h : 4 * h], w[4 * h : 5 * h], float(w[5 * h]))

    def torque(self, angle: float, before: float) -> float:
        """Torque u [N m] of the network for the angles [rad] of this and of the previous period."""
        return LARGEST * math.tanh(self.v @ np.tanh(self.W @ seen(angle, before) + self.b) + self.c)

    def back(self, angle: float, before: float, weight: float) -> tuple[Array, float, float]:
        """Derivatives of ``weight`` times the torque with respect to all weights (5h + 1,) and to both angles.

        The angles are those of this period, ``angle``, and of the previous one, ``before``.
        """
        s = seen(angle, before)
        hidden = np.tanh(self.W @ s + self.b)
        output = math.tanh(self.v @ hidden + self.c)
        by_output = weight * LARGEST * (1.0 - output**2)
        by_hidden = by_output * self.v * (1.0 - hidden**2)
        by_weights = np.concatenate([np.outer(by_hidden, s).ravel(), by_hidden, by_output * hidden, [by_output]])
        by_seen = by_hidden @ self.W
        by_before = -by_seen[2] / (8.0 * PERIOD)
        return by_weights, float(by_seen @ [-math.sin(angle), math.cos(angle), 0.0] - by_before), float(by_before)


def seen(angle: float, before: float) -> Array:
    """Inputs s (3,) of the network from the angles [rad] of this period and of the previous one, ``before``."""
    return np.array([math.cos(angle), math.sin(angle), (angle - before) / (8.0 * PERIOD)])


def first_weights(seed: int) -> Array:
    """Initial weights (5h + 1,): random, except for two weights of one hidden unit.

    These two make the torque act in the direction of the arm's motion.
    """
    w = 0.3 * np.random.default_rng(seed).standard_normal(5 * HIDDEN + 1)
    w[2], w[4 * HIDDEN] = 3.0, 1.5
    return w


def pendulum(load: float = LOAD) -> tuple[Mechanism, State]:
    """Mechanism of the pendulum with a load [kg], and its state at rest near its lowest pose.

    The angles of the network are measured from the lowest pose.
    """
    arm = fem.beam(
        LENGTH, STEEL, fem.Section(width=WIDTH, height=HEIGHT), elements=1, damping=fem.Damping(stiffness=1e-3)
    )
    bodies = {"hub": rigid.body(0.1, inertia=HUB, ports={"axis": (0.0, 0.0)}), "arm": arm.with_mass("tip", load)}
    joints = [hinge("hub.axis", GROUND), weld("arm.root", "hub.axis"), torque("hub.axis", name="motor")]
    mechanism = connect(bodies, joints, gravity=(0.0, -9.81))
    angle = FIRST - 0.5 * math.pi
    pose = mechanism.assemble({"hub": (0.0, 0.0, angle)}, guess={"arm": angle})
    return mechanism, mechanism.consistent_state(pose)


ANGLE = joint_angle("hub.axis", zero=-0.5 * math.pi)  # from hanging [rad]


def network_controller(network: Network) -> Sampled:
    """Sampled controller of the network, whose memory is the angle of the previous period."""

    def control(time: float, see: Any, before: float) -> Any:
        return {"motor": network.torque(see["angle"], before)}, see["angle"]

    return Sampled(function=control, period=PERIOD, sensors={"angle": ANGLE}, memory=FIRST)


def controlled(network: Network, times: Array, load: float = LOAD) -> Solution:
    """Run of the pendulum with the network in control, at ``times`` and with a load [kg]."""
    mechanism, start = pendulum(load)
    return integrate(mechanism, start, times, controllers={"network": network_controller(network)}, progress=False)


def cost(angles: Array, torques: Array) -> tuple[float, Array, Array]:
    """Cost of the angles (n + 1,) and torques (n,) of the periods, and its derivatives with respect to both.

    The cost penalises the difference from the energy of the upright pose at all times, the angle from the upright pose
    towards the end, and the torque.
    """
    n = torques.size
    late = 1.0 / (1.0 + np.exp(-(PERIOD * np.arange(n + 1) - RISE) / 0.1))
    up, rates, middles = 1.0 + np.cos(angles), np.diff(angles) / PERIOD, 0.5 * (angles[1:] + angles[:-1])
    scale = 2.0 * WEIGHT
    lack = (0.5 * INERTIA * rates**2 + WEIGHT * (1.0 - np.cos(middles))) / scale - 1.0
    value = 3.0 * np.mean(late * up) + 0.3 * np.mean(lack**2) + 1e-3 * PERIOD * np.sum(torques**2)
    by_angle = -3.0 * late * np.sin(angles) / (n + 1)
    by_rate, by_middle = (
        0.6 * lack / (n * scale) * part for part in (INERTIA * rates / PERIOD, 0.5 * WEIGHT * np.sin(middles))
    )
    by_angle[1:] += by_rate + by_middle
    by_angle[:-1] += by_middle - by_rate
    return float(value), by_angle, 2e-3 * PERIOD * torques


class Training:
    """Function of the weights that returns the cost of a run with the network, and its gradient.

    The gradient goes through the feedback. The costs of all calls are kept in ``costs``.
    """

    def __init__(self, periods: int, substeps: int) -> None:
        mechanism, start = pendulum()
        self.starts = PERIOD * np.arange(periods)
        self.ends = self.starts + PERIOD * (1.0 - 1e-9)
        self.names = [f"torque_{k}" for k in range(periods)]
        self.substeps, self.times = substeps, np.linspace(0.0, periods * PERIOD, periods * substeps + 1)
        self.run = Responses(lambda **u: (mechanism, start, self.inputs(u)), self.times, {"angle": ANGLE})
        self.costs: list[float] = []

    def inputs(self, torques: dict[str, float]) -> dict[str, Any]:
        """Input of the run: a table of the motor's torque, constant in each period, from the torques by name."""
        values = np.repeat([torques[name] for name in self.names], 2)
        return {"motor": (np.column_stack([self.starts, self.ends]).ravel(), values)}

    def __call__(self, w: Array) -> tuple[float, Array]:
        """Cost of a run with the weights ``w``, and its gradient with respect to them."""
        network = Network.of(w)
        torques = controlled(network, self.times).controls["motor"][:: self.substeps, 0]
        values, by = self.run.derivatives(**dict(zip(self.names, torques.tolist(), strict=True)))
        angles = values["angle"][:: self.substeps]
        by_torque = np.stack([by["angle"][name][:: self.substeps] for name in self.names], axis=1)
        value, by_angle, total = cost(angles, torques)
        total, gradient = total + by_angle @ by_torque, np.zeros_like(w)
        for k in range(torques.size - 1, -1, -1):
            by_step, here, before = network.back(angles[k], angles[max(k - 1, 0)], total[k])
            gradient += by_step
            total += here * by_torque[k] + before * by_torque[max(k - 1, 0)]
        self.costs.append(value)
        return value, gradient


@dataclass(frozen=True)
class Result:
    """The trained weights, the costs of all evaluations, and a run with the network in control."""

    weights: Array
    costs: tuple[float, ...]
    solution: Solution


def run(
    *,
    periods: Annotated[int, Option("periods of the controller, 50 ms each")] = 60,
    substeps: Annotated[int, Option("time steps of a period")] = 4,
    iterations: Annotated[int, Option("largest number of steps of the training")] = 60,
    seed: Annotated[int, Option("seed of the first weights")] = 1,
) -> Result:
    """A small network swings a flexible pendulum up, trained by exact derivatives of its runs."""
    training = Training(check.count("periods", periods, 2), check.count("substeps", substeps))
    found = minimize(
        training,
        first_weights(seed),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": check.count("iterations", iterations), "maxfun": 2 * iterations},
    )
    return Result(found.x, tuple(training.costs), controlled(Network.of(found.x), training.times))


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: the weights, the run, and a picture; return the summary numbers."""
    solution = result.solution
    write_run(solution, folder)
    write_table(folder / "weights.csv", {"weight": result.weights})
    angles, torques = np.degrees(solution.measured(ANGLE)), solution.controls["motor"][:, 0]
    write_table(folder / "swing.csv", {"t_s": solution.times[1:], "angle_deg": angles[1:], "torque_Nm": torques})
    figure = new_figure(8.0, 6.0)
    (swing, motor), (training, poses) = figure.subplots(2, 2)
    swing.plot(solution.times, angles, linewidth=1.2)
    swing.axhline(180.0 * np.sign(angles[-1]), color="black", linewidth=0.8)
    swing.set(xlabel="time [s]", ylabel="angle from hanging [°]")
    motor.step(solution.times[1:], torques, linewidth=1.0, where="pre")
    motor.set(xlabel="time [s]", ylabel="torque [N m]", ylim=(-1.2 * LARGEST, 1.2 * LARGEST))
    training.plot(np.minimum.accumulate(result.costs), linewidth=1.2)
    training.set(xlabel="run of the training", ylabel="least cost so far", yscale="log")
    _draw_poses(poses, solution)
    for axes in (swing, motor, training):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "swing-up.png")
    return {
        "cost": min(result.costs),
        "runs": len(result.costs),
        "angle_at_the_end_deg": float(angles[-1]),
        "largest_torque_Nm": float(np.abs(torques).max()),
        "largest_residual": float(solution.ledger.largest_residual),
    }


def _draw_poses(axes: Any, solution: Solution) -> None:
    """Draw the path of the load, and the arm every 0.15 s, later ones darker."""
    tip = solution.position("arm.tip")
    axes.plot(*tip.T, color="C1", linewidth=0.8)
    picked = range(0, len(tip), max(1, round(0.15 / (solution.times[1] - solution.times[0]))))
    for k in picked:
        axes.plot([0.0, tip[k, 0]], [0.0, tip[k, 1]], color="C0", linewidth=1.0, alpha=0.15 + 0.8 * k / len(tip))
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")


def upright_error(solution: Solution, since: float) -> float:
    """Largest angle from the upright pose [rad], in magnitude, from the time ``since`` on."""
    late = solution.times >= since
    return float(np.abs(np.angle(-np.exp(1j * solution.measured(ANGLE)[late]))).max())


def checks() -> Iterable[Check]:
    """Checks: gradient of the cost against finite differences, upright arm at the end, torque limit, and balance."""
    few = Training(20, 2)
    w = first_weights(1)
    _, gradient = few(w)
    step = 1e-4 * np.random.default_rng(0).standard_normal(w.size)
    (above, _), (below, _) = few(w + step), few(w - step)
    slope = float(gradient @ (2.0 * step))
    yield near("derivative of the cost along a direction", slope, above - below, 1e-5, source="central differences")
    result = run()
    yield at_most(
        "angle from upright in the last 0.2 s [rad]", 0.4, upright_error(result.solution, END - 0.2), source="demanded"
    )
    yield at_most("torque [N m]", LARGEST, np.abs(result.solution.controls["motor"]).max(), source="U of the network")
    yield vanishes("balance of the run", result.solution.ledger.largest_residual, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
