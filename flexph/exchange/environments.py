"""Environments of gymnasium for reinforcement learning, in which a :class:`flexph.Simulator` takes the steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..integration.methods.method import MechanismMethod
from ..integration.simulator import Simulator
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import State
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..results.step_account import StepAccount
from ..sensors.quantities import Quantity

Start = State | Callable[[np.random.Generator], State]
Reward = Callable[[Mapping[str, Any], StepAccount], float]
SPACING = 1e-9
"""Time before the end, relative to the step, at which an episode counts as finished."""


@checked
def environment(
    mechanism: Mechanism,
    start: Start,
    *,
    actions: Mapping[str, Sequence[Any]],
    observations: Mapping[str, Quantity],
    reward: Reward,
    step: float,
    end: float,
    substeps: int = 1,
    terminated: Callable[[Mapping[str, Any], StepAccount], bool] | None = None,
    method: MechanismMethod | None = None,
) -> Any:
    """Create a ``gymnasium.Env`` of a mechanism: actions are inputs, observations are readings of sensors.

    An action, clipped to its bounds, is the constant input during a ``step``, which a :class:`flexph.Simulator` takes
    in equal ``substeps``. Equal seeds and actions give bitwise equal results.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    start : State or callable
        Consistent state at which episodes start, or a function that returns one from a ``numpy.random.Generator``,
        which ``reset(seed=...)`` seeds.
    actions : mapping
        Lowest and highest value of the input by external port, numbers or arrays of the port's size [N, N m].
    observations : mapping
        Sensors by name; an observation is the array of their readings in this order.
    reward : callable
        Function ``reward(readings, account)`` that returns a number from the readings by name and the energies, works
        and losses [J] of the step, a :class:`flexph.results.StepAccount`.
    step : float
        Time between two actions [s].
    end : float
        Duration of an episode [s], after which it is truncated.
    substeps : int
        Steps of the simulator in a step of the environment.
    terminated : callable, optional
        Function ``terminated(readings, account)`` that returns True if the episode terminates.
    method : MechanismMethod, optional
        Method of the steps, see :class:`flexph.Simulator`.

    Returns
    -------
    gymnasium.Env
        Environment; ``env.simulator`` is its simulator, ``info`` has the time and the total energy.

    Raises
    ------
    ImportError
        If gymnasium is not installed (extra ``gym``).
    ValueError
        For ports and sensors that do not exist, and limits in the wrong order; in a step, for a reward that is no
        finite number.

    Examples
    --------
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge, torque
    >>> from flexph.exchange import environment
    >>> from flexph.sensors import joint_angle, joint_rate
    >>> joints = [hinge("rod.root", GROUND), torque("rod.root", name="motor")]
    >>> pendulum = connect({"rod": rigid.bar(1.0, 1.0)}, joints, gravity=(0.0, -9.81))
    >>> env = environment(  # doctest: +SKIP
    ...     pendulum,
    ...     pendulum.consistent_state(pendulum.assemble({"rod": -1.57})),
    ...     actions={"motor": (-2.0, 2.0)},
    ...     observations={"angle": joint_angle("rod.root"), "rate": joint_rate("rod.root")},
    ...     reward=lambda see, account: -((see["angle"] - 1.57) ** 2) - abs(account.work["motor"]),
    ...     step=0.02,
    ...     end=4.0,
    ... )
    >>> observation, info = env.reset(seed=1)  # doctest: +SKIP
    """
    gym = _gymnasium()
    check.positive("step", step, "s")
    check.positive("end", end, "s")
    check.count("substeps", substeps)
    for name, function in (("reward", reward), ("terminated", terminated)):
        if function is not None and not callable(function):
            raise ValueError(f"{name} must be a function of (readings, account), got {check.shown(function)}")
    if not isinstance(start, State) and not callable(start):
        raise ValueError(f"start must be a State or a function of a generator, got {check.shown(start)}")
    if not observations:
        raise ValueError("observations must have at least one sensor by name, got none")
    low, high, parts = _limits(mechanism, actions)
    return _class(gym)(
        mechanism, start, (low, high, parts), observations, reward, (step, int(substeps), end), terminated, method
    )


def _limits(mechanism: Mechanism, actions: Mapping[str, Sequence[Any]]) -> tuple[Array, Array, dict[str, slice]]:
    """Lowest and highest actions, and the slice of each port in these arrays."""
    slices, parts, low, high, at = mechanism.network.input_slices, {}, [], [], 0
    if not actions:
        raise ValueError("actions must have limits of at least one external port, got none")
    for port, given in actions.items():
        entries = check.lookup("external port", port, slices)
        size = entries.stop - entries.start
        if not isinstance(given, Sequence) or len(given) != 2:
            raise ValueError(f"actions[{port!r}] must be (lowest, highest), got {check.shown(given)}")
        ends = [np.broadcast_to(check.numbers(f"actions[{port!r}]", end), (size,)) for end in given]
        if not (ends[0] <= ends[1]).all():
            raise ValueError(f"actions[{port!r}] must have lowest <= highest, got {check.shown(given)}")
        low.append(ends[0])
        high.append(ends[1])
        parts[port], at = slice(at, at + size), at + size
    return np.concatenate(low), np.concatenate(high), parts


def _gymnasium() -> Any:
    try:
        import gymnasium
    except ImportError:
        raise ImportError('gymnasium is not installed: pip install "flexph[gym]"') from None
    return gymnasium


@lru_cache(maxsize=1)
def _class(gym: Any) -> Any:
    """Subclass of ``gymnasium.Env`` for mechanisms, created once gymnasium is imported."""

    class MechanismEnvironment(gym.Env):
        """Environment of a mechanism, see :func:`flexph.exchange.environment`."""

        metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  # as gymnasium declares it
        render_mode = None

        def __init__(
            self,
            mechanism: Mechanism,
            start: Start,
            limits: tuple[Array, Array, dict[str, slice]],
            observations: Mapping[str, Quantity],
            reward: Reward,
            times: tuple[float, int, float],
            terminated: Callable[..., bool] | None,
            method: MechanismMethod | None,
        ) -> None:
            self._start, self._parts, self._reward, self._terminates = start, limits[2], reward, terminated
            self._step, self._substeps, self._end = times
            first = start if isinstance(start, State) else start(np.random.default_rng(0))
            self.simulator = Simulator(mechanism, first, method=method, sensors=observations)
            self.action_space = gym.spaces.Box(limits[0], limits[1], dtype=np.float64)
            count = self._observation(self.simulator.readings).size
            self.observation_space = gym.spaces.Box(-np.inf, np.inf, (count,), dtype=np.float64)
            self._begin, self._taken = first.time, 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Array, dict[str, Any]]:
            super().reset(seed=seed)
            start = self._start if isinstance(self._start, State) else self._start(self.np_random)
            self.simulator.restore(start)
            self._begin, self._taken = start.time, 0
            return self._observation(self.simulator.readings), self._info(self.simulator.account)

        def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
            given = check.array("action", action, self.action_space.shape)
            held = np.clip(given, self.action_space.low, self.action_space.high)
            inputs = {port: held[part] for port, part in self._parts.items()}
            account: StepAccount | None = None
            for k in range(self._substeps):
                done = self._taken * self._substeps + k + 1
                self.simulator.advance_to(self._begin + done * self._step / self._substeps, inputs)
                step_account = self.simulator.account
                account = step_account if account is None else account.then(step_account)
            assert account is not None
            self._taken += 1
            readings = self.simulator.readings
            reward = check.number("the reward", self._reward(readings, account))
            terminated = self._terminates is not None and bool(self._terminates(readings, account))
            truncated = self.simulator.time >= self._begin + self._end - SPACING * self._step
            return self._observation(readings), reward, terminated, truncated, self._info(account)

        def _observation(self, readings: Mapping[str, Any]) -> Array:
            return np.concatenate([np.ravel(np.asarray(value, dtype=float)) for value in readings.values()])

        def _info(self, account: StepAccount) -> dict[str, Any]:
            return {"time": self.simulator.time, "energy": account.total}

    return MechanismEnvironment
