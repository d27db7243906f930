"""Transformation of systems to other coordinates ([dg] sec. 5.1 and appendix D.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.factors.ldl import semi_definite_product
from .derivatives import Derivatives
from .discrete_gradients import Invariants, discrete_jacobian
from .nonlinear import PHDAE, Constant, MatrixFunction


class Transformation:
    """Transformation of a system to coordinates x̃ with x = φ(x̃), and rows multiplied by Uᵀ; see :func:`transform`.

    ``jacobian`` is Dφ and ``frame`` is U, both functions of x̃. Transformed functions depend on x̃.
    """

    def __init__(
        self, system: PHDAE, phi: Callable[[Array], Array], jacobian: MatrixFunction, frame: MatrixFunction
    ) -> None:
        self.system, self.phi, self.jacobian, self.frame = system, phi, jacobian, frame

    def applied(self, sample: Array, parts: Mapping[str, slice]) -> PHDAE:
        """Transformed system, checked at the state ``sample``.

        ``parts`` are slices of the new states by name, in addition to the parts of the original system that remain.
        """
        system = self.system
        losses: dict[str, Any] = {"R": self.matrix("R", system.R)} | self.feedthrough()
        return PHDAE(
            E=self.matrix("E", system.E),
            J=self.matrix("J", system.J),
            B=self.matrix("B", system.B),
            **losses,
            z=self.costate,
            H=lambda x: system.H(self.phi(x)),
            sample=sample,
            ports=system.ports,
            parts={**self.parts(), **parts},
            means={name: partial(self.mean, name, mean) for name, mean in system.means.items()},
            derivatives=self.derivatives(),
            invariants=self.invariants(),
            cautions=tuple(partial(self.caution, caution) for caution in system.cautions),
            start_defects=tuple(partial(self.start_defect, defect) for defect in system.start_defects),
        )

    def feedthrough(self) -> dict[str, Any]:
        """Transformed R̃ = UᵀRU, P̃ = UᵀP, S̃ = S, Ñ = N of a system with feed-through; empty without."""
        system = self.system
        if not system.has_feedthrough:
            return {}
        of = {name: getattr(system, name) for name in ("R", "P", "S")}
        if isinstance(self.frame, Constant) and all(isinstance(matrix, Constant) for matrix in of.values()):
            blocks: dict[str, Any] = {name: self._loss(name, self.frame.matrix, system.sample) for name in of}
        else:
            blocks = {name: partial(self._loss_at, name) for name in of}
        return blocks | {"N": self.matrix("N", system.N)}

    def _loss_at(self, name: str, x: Array) -> Array:
        return self._loss(name, self.frame(x), self.phi(x))

    def _loss(self, name: str, U: Array, x: Array) -> Array:
        """Block R̃, P̃ or S̃, by its name, of the matrix ``diag(U, 1)ᵀ [[R, P], [Pᵀ, S]] diag(U, 1)``.

        R, P and S are evaluated at a state x of the original system. The whole matrix is symmetric and positive
        semi-definite to the last bit.
        """
        n, m = self.system.size, self.system.inputs_size
        R, P, S = (dense(getattr(self.system, block)(x)) for block in ("R", "P", "S"))
        basis = np.eye(n + m)
        basis[:n, :n] = dense(U)
        whole = semi_definite_product("[[R, P], [Pᵀ, S]]", np.block([[R, P], [P.T, S]]), basis)
        blocks = {"R": whole[:n, :n], "P": whole[:n, n:], "S": whole[n:, n:]}
        return np.asarray(blocks[name])

    def caution(self, of: Callable[[Array], str | None], x: Array) -> str | None:
        """Warning text, or None, at the new state x, from a warning function ``of`` of the original system."""
        return of(self.phi(x))

    def start_defect(self, of: Callable[[Array, float], str | None], x: Array, step: float) -> str | None:
        """Reason why a run cannot start at the new state x with a step [s], or None.

        ``of`` is the function of the original system that gives this reason.
        """
        return of(self.phi(x), step)

    def matrix(self, name: str, matrix: MatrixFunction) -> MatrixFunction | Any:
        """Transformed matrix Ẽ, J̃, R̃, B̃, P̃, S̃ or Ñ as a function of x̃."""
        return lambda x: self.carried(name, matrix(self.phi(x)), self.frame(x), self.jacobian(x))

    def carried(self, name: str, matrix: Any, U: Any, D: Any) -> Any:
        """Transformed value of the matrix ``name``: UᵀED, UᵀJU, UᵀRU, UᵀB or UᵀP; S and N are unchanged.

        ``matrix`` is its value at φ(x̃), ``U`` is the frame and ``D`` the Jacobian Dφ, both at x̃.
        """
        if name == "R":
            return semi_definite_product("R", matrix, U)
        if name in ("S", "N"):
            return matrix
        left = U.T @ matrix
        return left if name in ("B", "P") else left @ (D if name == "E" else U)

    def costate(self, x: Array) -> Array:
        """Transformed costates z̃ = U⁻¹ z(φ(x̃))."""
        return np.linalg.solve(self.frame(x), self.system.z(self.phi(x)))

    def mean(self, name: str, mean: Callable[[Array, Array], Any], x0: Array, x1: Array) -> Any:
        """Transformed mean ``name`` (E, J, R, B, P, S, N or z) over a step from x̃₀ to x̃₁, from the original mean."""
        U, given = self.frame(0.5 * (x0 + x1)), mean(self.phi(x0), self.phi(x1))
        if name == "z":
            return np.linalg.solve(U, given)
        D = discrete_jacobian(self.phi, self.jacobian, x0, x1) if name == "E" else None
        return self.carried(name, given, U, D)

    def parts(self) -> dict[str, slice]:
        """Parts of the original system that are also parts of the transformed one; none for a nonlinear φ."""
        return {}

    def derivatives(self) -> Derivatives | None:
        """None, as derivatives for a nonlinear φ would need its second derivatives."""
        return None

    def invariants(self) -> Invariants | None:
        """None, as the invariants would not be quadratic for a nonlinear φ."""
        return None


class LinearTransformation(Transformation):
    """Transformation with constant Dφ and U."""

    jacobian: Constant
    frame: Constant

    def matrix(self, name: str, matrix: MatrixFunction) -> MatrixFunction | Any:
        """Transformed matrix; constant matrices stay constant."""
        if isinstance(matrix, Constant):
            return self.carried(name, matrix.matrix, self.frame.matrix, self.jacobian.matrix)
        return super().matrix(name, matrix)

    def parts(self) -> dict[str, slice]:
        """Named parts of the old states that depend only on the new states with the same indices."""
        D, kept = self.jacobian.matrix != 0.0, {}
        for name, part in self.system.parts.items():
            others = np.ones(self.system.size, dtype=bool)
            others[part] = False
            if not D[part][:, others].any():
                kept[name] = part
        return kept

    def derivatives(self) -> Derivatives | None:
        """Derivatives of the transformed functions: ``U⁻¹ ∂z Dφ`` of z̃, ``Uᵀ ∂(… w̃) Dφ`` of the matrices.

        The derivatives ∂z and ∂(… w̃) of the original system are evaluated at φ(x̃). Here w̃ = Dφ w for E, and w̃ = U w
        for J and R. None if the original has no derivatives.
        """
        given, phi, D, U = self.system.derivatives, self.phi, self.jacobian.matrix, self.frame.matrix
        if given is None:
            return None
        outputs = given.outputs

        def of(function: Callable[[Array, Array], Any] | None, onto: Any) -> Callable[[Array, Array], Any] | None:
            return None if function is None else lambda x, w: U.T @ function(phi(x), onto @ w) @ D

        one = np.eye(self.system.inputs_size)
        return Derivatives(
            costate=lambda x: np.linalg.solve(U, given.costate(phi(x)) @ D),
            descriptor=of(given.descriptor, D),
            structure=of(given.structure, U),
            inputs=of(given.inputs, one),
            outputs=None if outputs is None else lambda x, w: outputs(phi(x), U @ w) @ D,
            accuracy=given.accuracy,
        )

    def invariants(self) -> Invariants | None:
        """Invariants π∘φ, quadratic like π."""
        given, phi, D = self.system.invariants, self.phi, self.jacobian.matrix
        if given is None:
            return None
        return Invariants(
            lambda x: given.values(phi(x)), lambda x: given.jacobian(phi(x)) @ D, given.energy, given.gradient
        )


@checked
def transform(
    system: PHDAE,
    phi: Callable[[Array], Array],
    jacobian: MatrixFunction | Any,
    frame: MatrixFunction | Any,
    *,
    sample: Array,
    parts: Mapping[str, slice] | None = None,
) -> PHDAE:
    """Transform a system to coordinates x̃ with x = φ(x̃), its rows multiplied by Uᵀ ([dg] eq. (32)-(33)).

    ``Ẽ = Uᵀ(E∘φ)Dφ, J̃ = Uᵀ(J∘φ)U, R̃ = Uᵀ(R∘φ)U, B̃ = Uᵀ(B∘φ), z̃ = U⁻¹(z∘φ), H̃ = H∘φ`` with ``jacobian`` = Dφ and
    ``frame`` = U.

    Means are carried over ([dg] theorems 6 and 9) with Ū = U in the middle and Gonzalez' discrete Jacobian D̄φ: ``Ê =
    Ūᵀ(Ē∘φ)D̄φ, ẑ = Ū⁻¹(z̄∘φ), Ĵ = Ūᵀ(J̄∘φ)Ū, …``. Steps by the pair of :func:`flexph.discretisation.with_pair` are the
    images of the steps of the original system; a method such as ``gonzalez`` has another gradient in other coordinates
    ([dg] example 10). If both matrices are constant, constant E, J, R, B stay constant, and derivatives, invariants,
    and parts whose states are combinations of the new states with the same indices are carried over, too.

    Parameters
    ----------
    system : PHDAE
        The system in x (n,).
    phi : callable
        φ, which maps x̃ to x.
    jacobian : callable or array
        Dφ (n, n) as a function of x̃, or a constant matrix; invertible.
    frame : callable or array
        U (n, n) as a function of x̃, or a constant matrix; invertible.
    sample : array
        State x̃ (n,) at which the result is checked.
    parts : mapping, optional
        Slices of the new states by name.

    Returns
    -------
    PHDAE
        System in the coordinates x̃.
    """
    shape = (system.size, system.size)
    D, U = (
        given if callable(given) else Constant(check.matrix(name, given, shape))
        for name, given in (("jacobian", jacobian), ("frame", frame))
    )
    at = check.array("sample", sample, (system.size,))
    for name, function, wanted in (("phi", phi, (system.size,)), ("jacobian", D, shape), ("frame", U, shape)):
        check.result_of(name, function, at, shape=wanted)
    constant = isinstance(D, Constant) and isinstance(U, Constant)
    transformation = LinearTransformation if constant else Transformation
    return transformation(system, phi, D, U).applied(sample, parts or {})
