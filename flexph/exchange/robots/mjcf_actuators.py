"""Actuators and fixed tendons of a compiled MJCF file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...robots.links.actuators import UNBOUNDED, Actuator


class ActuatorReader:
    """Reader of the actuators and fixed tendons of a compiled model."""

    def __init__(self, mujoco: Any, model: Any) -> None:
        self.mujoco, self.model = mujoco, model

    def actuators(self, joints: Mapping[int, str]) -> tuple[dict[str, Actuator], list[str]]:
        """Actuators by name, and names of unsupported actuators.

        ``joints``: names of joints by number. Supported are constant gains, affine biases, and transmissions by joints
        with one degree of freedom or by fixed tendons.
        """
        model, found, left = self.model, {}, []
        for number in range(model.nu):
            name = model.actuator(number).name or f"actuator {number + 1}"
            gears = self._gears(number, joints)
            if gears is None or name in found or not self._is_affine(number):
                left.append(name)
                continue
            biased = int(model.actuator_biastype[number]) == int(self.mujoco.mjtBias.mjBIAS_AFFINE)
            b0, b1, b2 = model.actuator_biasprm[number][:3].tolist() if biased else (0.0, 0.0, 0.0)
            found[name] = Actuator(
                gears,
                float(model.actuator_gainprm[number][0]),
                (b0, b1, b2),
                _ends(model.actuator_ctrlrange[number], model.actuator_ctrllimited[number]),
                _ends(model.actuator_forcerange[number], model.actuator_forcelimited[number]),
            )
        return found, left

    def tight_tendons(self) -> list[str]:
        """Names of unsupported tendons: spatial ones, and fixed ones with stiffness, losses, armature or limits."""
        model, names = self.model, []
        for number in range(model.ntendon):
            tendon_laws = (
                model.tendon_stiffness,
                model.tendon_damping,
                model.tendon_frictionloss,
                model.tendon_armature,
            )
            loaded = any(float(np.max(law[number])) > 0.0 for law in tendon_laws) or bool(model.tendon_limited[number])
            if loaded or self._coefficients(number) is None:
                names.append(model.tendon(number).name or f"tendon {number + 1}")
        return names

    def _is_affine(self, number: int) -> bool:
        """True for an actuator with a constant gain and at most an affine bias.

        It must have neither activation nor armature, damping or delay, and a single command.
        """
        kinds, model = self.mujoco, self.model
        more = model.actuator_armature, model.actuator_damping, model.actuator_delay
        if any(np.any(law[number]) for law in more) or int(model.actuator_ctrlnum[number]) != 1:
            return False
        return (
            int(model.actuator_dyntype[number]) == int(kinds.mjtDyn.mjDYN_NONE)
            and int(model.actuator_gaintype[number]) == int(kinds.mjtGain.mjGAIN_FIXED)
            and int(model.actuator_biastype[number])
            in (int(kinds.mjtBias.mjBIAS_NONE), int(kinds.mjtBias.mjBIAS_AFFINE))
        )

    def _gears(self, number: int, joints: Mapping[int, str]) -> dict[str, float] | None:
        """Ratios of an actuator by joint; None for an unsupported transmission."""
        model, kinds = self.model, self.mujoco.mjtTrn
        kind, target = int(model.actuator_trntype[number]), int(model.actuator_trnid[number][0])
        gear = float(model.actuator_gear[number][0])
        if kind in (int(kinds.mjTRN_JOINT), int(kinds.mjTRN_JOINTINPARENT)):
            return {joints[target]: gear} if self._is_single(target) else None
        if kind == int(kinds.mjTRN_TENDON) and (terms := self._coefficients(target)) is not None:
            return {joints[joint]: gear * weight for joint, weight in terms.items()}
        return None

    def _coefficients(self, tendon: int) -> dict[int, float] | None:
        """Weights of a fixed tendon by joint number; None for a spatial tendon."""
        model = self.model
        terms: dict[int, float] = {}
        first = int(model.tendon_adr[tendon])
        for k in range(first, first + int(model.tendon_num[tendon])):
            if int(model.wrap_type[k]) != int(self.mujoco.mjtWrap.mjWRAP_JOINT):
                return None
            joint = int(model.wrap_objid[k])
            terms[joint] = terms.get(joint, 0.0) + float(model.wrap_prm[k])
        return terms

    def _is_single(self, joint: int) -> bool:
        """True for a joint with one degree of freedom."""
        kinds = self.mujoco.mjtJoint
        return int(self.model.jnt_type[joint]) in (int(kinds.mjJNT_HINGE), int(kinds.mjJNT_SLIDE))


def _ends(given: Any, limited: Any) -> tuple[float, float]:
    """Lower and upper bound of a value, infinite if the file has no limit."""
    return (float(given[0]), float(given[1])) if limited else UNBOUNDED
