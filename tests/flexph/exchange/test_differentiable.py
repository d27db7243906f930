"""Runs in torch and JAX: their derivatives are those of the run, through functions before and behind it."""

import sys

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, hinge
from flexph.exchange import to_jax, to_torch
from flexph.gradients import Last, Responses
from flexph.sensors import joint_angle

TIMES = np.linspace(0.0, 0.1, 6)
AT = np.array([9.0, 1.5])


def fall(gravity, length):
    mechanism = connect({"bar": rigid.bar(length, 1.0)}, [hinge("bar.root", GROUND)], gravity=(0.0, -gravity))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))


RUN = Responses(fall, TIMES, {"end": Last(joint_angle("bar.root")), "angle": joint_angle("bar.root")})
NAMES = ["gravity", "length"]


def expected():
    """Gradient of sin(2 e) by x, with e the end at x², and the Jacobian of all angles by x², at x = √AT."""
    values, by = RUN.derivatives(gravity=AT[0], length=AT[1])
    own = np.array([by["end"][name] for name in NAMES])
    angles = np.stack([by["angle"][name] for name in NAMES], axis=1)
    return 2.0 * np.cos(2.0 * values["end"]) * own * 2.0 * np.sqrt(AT), angles


def test_gradients_pass_through_torch():
    torch = pytest.importorskip("torch")
    x = torch.tensor(np.sqrt(AT), requires_grad=True)
    torch.sin(2.0 * to_torch(RUN, NAMES, "end")(x**2)).backward()
    own, angles = expected()
    np.testing.assert_allclose(x.grad.numpy(), own, rtol=1e-12)
    jacobian = torch.autograd.functional.jacobian(to_torch(RUN, NAMES, "angle"), torch.tensor(AT))
    np.testing.assert_allclose(jacobian.numpy(), angles, rtol=1e-12, atol=1e-15)


def test_gradients_pass_through_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    try:
        end = to_jax(RUN, NAMES, "end")
        own, angles = expected()
        slope = jax.jit(jax.grad(lambda x: jax.numpy.sin(2.0 * end(x**2))))(np.sqrt(AT))
        np.testing.assert_allclose(slope, own, rtol=1e-12)
        jacobian = jax.jacrev(to_jax(RUN, NAMES, "angle", shape=(6,)))(AT)
        np.testing.assert_allclose(jacobian, angles, rtol=1e-12, atol=1e-15)
        assert float(end(AT)) == RUN(gravity=AT[0], length=AT[1])["end"]
    finally:
        jax.config.update("jax_enable_x64", False)


@pytest.mark.parametrize("make, package", [(to_torch, "torch"), (to_jax, "jax")])
def test_what_is_missing_is_named(make, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=rf"flexph\[{package}\]"):
        make(RUN, NAMES, "end")


def test_a_function_without_derivatives_is_refused(monkeypatch):
    class Torch:
        class autograd:
            Function = object

    monkeypatch.setitem(sys.modules, "torch", Torch)
    with pytest.raises(ValueError, match="must have derivatives"):
        to_torch(lambda x: {"y": x}, ["x"], "y")
