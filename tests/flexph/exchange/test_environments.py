"""Environments of gymnasium: its own checker, seeds, rewards from the account, and the steps of a run."""

import sys

import numpy as np
import pytest

import rigid
from flexph import GROUND, Simulator, connect, hinge, integrate, torque, torsion_spring
from flexph.exchange import environment
from flexph.sensors import joint_angle, joint_rate

JOINTS = [hinge("rod.root", GROUND), torque("rod.root", name="motor"), torsion_spring("rod.root", GROUND, damping=0.1)]
PENDULUM = connect({"rod": rigid.bar(1.0, 1.0)}, JOINTS, gravity=(0.0, -9.81))
SEE = {"angle": joint_angle("rod.root"), "rate": joint_rate("rod.root")}


def state(angle=-1.2):
    return PENDULUM.consistent_state(PENDULUM.assemble({"rod": angle}))


def drawn(rng):
    return state(rng.uniform(-2.0, 2.0))


def swing(**changed):
    given = {
        "actions": {"motor": (-2.0, 2.0)},
        "observations": SEE,
        "reward": lambda see, account: -abs(account.work["motor"]) - see["angle"] ** 2,
        "step": 0.05,
        "substeps": 5,
        "end": 0.5,
    }
    return environment(PENDULUM, changed.pop("start", state()), **(given | changed))


def test_without_gymnasium_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(ImportError, match=r"flexph\[gym\]"):
        swing()


@pytest.mark.filterwarnings("ignore::UserWarning")  # of gymnasium: observations have no bounds
@pytest.mark.parametrize("start", [state(), drawn])
def test_the_checker_of_gymnasium_passes(start):
    pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    check_env(swing(start=start), skip_render_check=True)


def episode(env, seed):
    rng, (seen, _), rewards = np.random.default_rng(5), env.reset(seed=seed), []
    rows = [seen]
    for _ in range(100):
        seen, reward, terminated, truncated, _ = env.step(rng.uniform(-2.0, 2.0, 1))
        rows.append(seen)
        rewards.append(reward)
        if terminated or truncated:
            break
    return np.array(rows), np.array(rewards)


def test_equal_seeds_give_equal_bits():
    pytest.importorskip("gymnasium")
    env = swing(start=drawn)
    first, again, other = episode(env, 3), episode(env, 3), episode(env, 4)
    assert np.array_equal(first[0], again[0]) and np.array_equal(first[1], again[1])
    assert len(first[0]) == 11 and not np.array_equal(first[0], other[0])


def test_steps_are_those_of_a_run_and_rewards_have_its_ledger():
    pytest.importorskip("gymnasium")
    seen = []
    env = swing(reward=lambda see, account: seen.append(account) or account.work["motor"], start=state())
    env.reset(seed=0)
    total = sum(env.step(np.array([1.5]))[1] for _ in range(10))
    run = integrate(PENDULUM, state(), np.linspace(0.0, 0.5, 51), inputs={"motor": 1.5})
    assert env.simulator.readings["angle"] == pytest.approx(run.measured(SEE["angle"])[-1], abs=1e-13)
    assert total == pytest.approx(run.ledger.work["motor"].sum(), rel=1e-12)
    lost = sum(sum(account.dissipation.values()) for account in seen)
    assert lost == pytest.approx(sum(values.sum() for values in run.ledger.dissipation.values()), rel=1e-10)
    assert seen[-1].total == pytest.approx(run.ledger.total_energy[-1], rel=1e-12)
    assert max(abs(account.residual) for account in seen) < 1e-13


def test_an_episode_ends_where_it_is_over():
    pytest.importorskip("gymnasium")
    env = swing(terminated=lambda see, account: see["angle"] > -1.2)
    env.reset()
    ends = [env.step(np.array([2.0]))[2:4] for _ in range(3)]
    assert ends[0] == (True, False)


def test_wrong_environments_are_refused():
    pytest.importorskip("gymnasium")
    for changed, words in (
        ({"actions": {"motr": (-1.0, 1.0)}}, "no external port 'motr'"),
        ({"actions": {"motor": (1.0, -1.0)}}, "lowest <= highest"),
        ({"actions": {}}, "at least one external port"),
        ({"observations": {}}, "one sensor by name"),
        ({"substeps": 0}, "substeps"),
        ({"reward": 3.0}, "reward must be"),
    ):
        with pytest.raises(ValueError, match=words):
            swing(**changed)
    env = swing(reward=lambda see, account: float("nan"))
    env.reset()
    with pytest.raises(ValueError, match="the reward must be finite"):
        env.step(np.array([0.0]))


def test_a_simulator_has_the_account_of_its_last_step():
    simulator = Simulator(PENDULUM, state())
    assert simulator.account.work["motor"] == 0.0
    before = simulator.account.total
    simulator.advance(0.01, {"motor": 1.0})
    account = simulator.account
    assert account.total - before == pytest.approx(account.work["motor"] - sum(account.dissipation.values()), abs=1e-14)
