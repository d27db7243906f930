"""Runs with their gradients as differentiable functions of torch and JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array


@checked
def to_torch(function: Callable[..., Any], parameters: Sequence[str], value: str) -> Callable[[Any], Any]:
    """Convert a differentiable function of parameters to a function of torch, by a ``torch.autograd.Function``.

    Parameters
    ----------
    function : Responses
        Function of parameters with derivatives: :class:`flexph.gradients.Responses`, or any callable object with such a
        method ``derivatives(**parameters)``.
    parameters : sequence of str
        Names of the parameters, in the order of the tensor.
    value : str
        Name of the value of the function that is returned to torch.

    Returns
    -------
    callable
        Function of a tensor (p,) that returns a tensor of the shape of the value.

    Raises
    ------
    ModuleNotFoundError
        If torch is missing.
    ValueError
        For a function without derivatives, and for unknown names.

    Examples
    --------
    A step against the gradient, where torch is installed::

        run = to_torch(responses, ["width", "height"], "tip")
        x = torch.tensor([0.01, 0.02], dtype=torch.float64, requires_grad=True)
        run(x).backward()
        x.data -= 1e-3 * x.grad
    """
    torch = _needed("torch")
    requested = _RequestedValue(function, parameters, value)

    class Run(torch.autograd.Function):  # type: ignore[name-defined]
        """Value of a run as a function of torch, whose backward pass multiplies a covector by the Jacobian."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            """Evaluate the value at parameters (p,), and store the Jacobian for ``backward``."""
            result, jacobian = requested.with_jacobian(x.detach().cpu().numpy())
            ctx.save_for_backward(torch.as_tensor(jacobian, dtype=x.dtype, device=x.device))
            return torch.as_tensor(result, dtype=x.dtype, device=x.device)

        @staticmethod
        def backward(ctx: Any, *covectors: Any) -> Any:
            """Product (p,) of a covector, of the shape of the value, with the stored Jacobian."""
            (jacobian,) = ctx.saved_tensors
            return torch.tensordot(covectors[0], jacobian, dims=covectors[0].dim())

    run: Callable[[Any], Any] = Run.apply
    return run


@checked
def to_jax(
    function: Callable[..., Any], parameters: Sequence[str], value: str, *, shape: Sequence[int] = ()
) -> Callable[[Any], Any]:
    """Convert a differentiable function of parameters to a function of JAX, by ``jax.custom_vjp``.

    ``jit`` can be used.

    Parameters
    ----------
    function, parameters, value
        As for :func:`to_torch`.
    shape : sequence of int
        Shape of the value, () for a number.

    Returns
    -------
    callable
        Function of an array (p,) that returns an array of the shape of the value. Numbers are computed in double
        precision, and passed in that of the array: set ``jax_enable_x64`` for doubles.

    Raises
    ------
    ModuleNotFoundError
        If JAX is missing.
    ValueError
        For a function without derivatives, for unknown names, and for a value of another shape.

    Examples
    --------
    Where JAX is installed::

        run = to_jax(responses, ["width", "height"], "tip")
        slope = jax.grad(lambda x: run(x) ** 2)(jax.numpy.array([0.01, 0.02]))
    """
    jax = _needed("jax")
    requested, sizes = _RequestedValue(function, parameters, value), tuple(check.count("shape", size) for size in shape)

    def shaped(own: Array) -> Array:
        if own.shape != sizes:
            raise ValueError(f"shape must be that of the value {value!r}, {own.shape}, got {sizes}")
        return own

    def of(x: Any, *more: int) -> Any:
        return jax.ShapeDtypeStruct((*sizes, *more), x.dtype)

    def plain(x: Any) -> Array:
        return shaped(requested.value(np.asarray(x))).astype(x.dtype)

    def both(x: Any) -> tuple[Array, Array]:
        result, jacobian = requested.with_jacobian(np.asarray(x))
        return shaped(result).astype(x.dtype), jacobian.astype(x.dtype)

    @jax.custom_vjp
    def run(x: Any) -> Any:
        return jax.pure_callback(plain, of(x), x)

    def forward(x: Any) -> Any:
        return jax.pure_callback(both, (of(x), of(x, len(requested.names))), x)

    def backward(jacobian: Any, covector: Any) -> Any:
        return (jax.numpy.tensordot(covector, jacobian, axes=len(sizes)),)

    run.defvjp(forward, backward)
    own: Callable[[Any], Any] = run
    return own


class _RequestedValue:
    """The value called ``value`` of a function of parameters, and its Jacobian, as functions of an array (p,)."""

    def __init__(self, function: Any, names: Sequence[str], value: str) -> None:
        if not callable(getattr(function, "derivatives", None)):
            raise ValueError(
                f"function must have derivatives, as flexph.gradients.Responses has, got {function!r:.100}"
            )
        self.function, self.names, self.name = (
            function,
            tuple(check.name("a parameter", parameter) for parameter in names),
            value,
        )

    def value(self, x: Array) -> Array:
        """Value at parameters (p,)."""
        values = self.function(**self._named(x))
        return np.asarray(check.lookup("value", self.name, values, "a run"), dtype=float)

    def with_jacobian(self, x: Array) -> tuple[Array, Array]:
        """Value at parameters (p,), and its Jacobian (…, p)."""
        values, by = self.function.derivatives(**self._named(x))
        result = np.asarray(check.lookup("value", self.name, values, "a run"), dtype=float)
        return result, np.stack([np.asarray(by[self.name][name], dtype=float) for name in self.names], axis=-1)

    def _named(self, x: Array) -> dict[str, float]:
        if x.shape != (len(self.names),):
            raise ValueError(f"parameters must have shape ({len(self.names)},), got {x.shape}")
        return dict(zip(self.names, x.astype(float).tolist(), strict=True))


def _needed(package: str) -> ModuleType:
    """Import an optional package; raises ModuleNotFoundError that names the extra to install."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        said = f'{package} is not installed: pip install "flexph[{package}]"'
        raise ModuleNotFoundError(said, name=package) from error
