"""Recursive Newton-Euler equations of a URDF file by numpy alone: an independent route to accelerations."""

from xml.etree import ElementTree

import numpy as np


def numbers(element, attribute, missing="0 0 0"):
    return np.array([float(word) for word in (missing if element is None else element.get(attribute, missing)).split()])


def turn(axis, angle):
    """Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def origin(element):
    own = None if element is None else element.find("origin")
    roll, pitch, yaw = numbers(own, "rpy")
    return turn((0, 0, 1), yaw) @ turn((0, 1, 0), pitch) @ turn((1, 0, 0), roll), numbers(own, "xyz")


class Tree:
    """Links and joints of a file whose joints stand in the order of the tree."""

    def __init__(self, path):
        root = ElementTree.parse(path).getroot()
        self.links = {link.get("name"): self.inertial(link.find("inertial")) for link in root.findall("link")}
        self.joints = root.findall("joint")
        self.moving = [j.get("name") for j in self.joints if j.get("type") != "fixed"]
        self.laws = {j.get("name"): j.find("mimic") for j in self.joints if j.find("mimic") is not None}
        losses = {j.get("name"): j.find("dynamics") for j in self.joints}
        self.damping = {name: 0.0 if own is None else float(own.get("damping", 0.0)) for name, own in losses.items()}
        children = {j.find("child").get("link") for j in self.joints}
        (self.root,) = set(self.links) - children

    @staticmethod
    def inertial(own):
        if own is None:
            return 0.0, np.zeros(3), np.zeros((3, 3))
        R, c = origin(own)
        get = lambda entry: float(own.find("inertia").get(entry))  # noqa: E731
        J = np.array([[get("i" + "".join(sorted(a + b))) for a in "xyz"] for b in "xyz"])
        return float(own.find("mass").get("value")), c, R @ J @ R.T

    def motion(self, q, rate, second, gravity=(0.0, 0.0, 0.0)):
        """Rotation, place, spin, velocity, and their rates of all links; axes of the joints."""
        none = np.zeros(3)
        found = {self.root: (np.eye(3), none, none, none, none, -np.array(gravity))}
        axes = {}
        for joint in self.joints:
            name, kind = joint.get("name"), joint.get("type")
            R, p, w, v, dw, dv = found[joint.find("parent").get("link")]
            Ro, po = origin(joint)
            axis = numbers(joint.find("axis"), "xyz", "1 0 0")
            axis = axis / (np.linalg.norm(axis) or 1.0)
            z, x, dx, ddx = R @ Ro @ axis, *(values.get(name, 0.0) for values in (q, rate, second))
            slides, turns = kind == "prismatic", kind in ("revolute", "continuous")
            arm = R @ po + slides * x * z
            found[joint.find("child").get("link")] = (
                R @ Ro @ (turn(axis, x) if turns else np.eye(3)),
                p + arm,
                w + turns * dx * z,
                v + np.cross(w, arm) + slides * dx * z,
                dw + turns * (ddx * z + np.cross(w, dx * z)),
                dv + np.cross(dw, arm) + np.cross(w, np.cross(w, arm)) + slides * (ddx * z + 2 * np.cross(w, dx * z)),
            )
            axes[name] = z
        return found, axes

    def efforts(self, q, rate, second, gravity=(0.0, 0.0, 0.0)):
        """Torque or force of each joint that moves."""
        found, axes = self.motion(q, rate, second, gravity)
        loads = {}
        for name, (R, p, w, _, dw, dv) in found.items():
            m, c, J = self.links[name]
            arm, Jw = R @ c, R @ J @ R.T
            force = m * (dv + np.cross(dw, arm) + np.cross(w, np.cross(w, arm)))
            loads[name] = [force, np.cross(p + arm, force) + Jw @ dw + np.cross(w, Jw @ w)]  # about the origin
        efforts = {}
        for joint in reversed(self.joints):
            name, child = joint.get("name"), joint.find("child").get("link")
            force, moment = loads[child]
            along = force if joint.get("type") == "prismatic" else moment - np.cross(found[child][1], force)
            efforts[name] = axes[name] @ along
            above = loads[joint.find("parent").get("link")]
            above[0], above[1] = above[0] + force, above[1] + moment
        return np.array([efforts[name] for name in self.moving])

    def coupled(self, free):
        """Coordinates of all joints, from those that follow no other."""
        values = dict(free)
        for name, law in self.laws.items():
            factor, offset = float(law.get("multiplier", 1.0)), float(law.get("offset", 0.0))
            values[name] = factor * values[law.get("joint")] + offset
        return values

    def accelerations(self, q, rate, gravity=(0.0, 0.0, 0.0), loads=None):
        """By joint, from the coordinates and rates of all: (Cᵀ M C) ÿ = Cᵀ(τ − d q̇ − bias) with q̇ = C ẏ."""
        free = [name for name in self.moving if name not in self.laws]
        at_rest, one = self.coupled(dict.fromkeys(free, 0.0)), {}
        for name in free:
            one[name] = self.coupled({other: float(other == name) for other in free})
        C = np.array([[one[name][j] - at_rest[j] for name in free] for j in self.moving])
        M = np.column_stack([self.efforts(q, {}, {name: 1.0}) for name in self.moving])
        bias = self.efforts(q, rate, {}, gravity)
        for k, name in enumerate(self.moving):
            bias[k] += self.damping[name] * rate.get(name, 0.0) - (loads or {}).get(name, 0.0)
        return dict(zip(self.moving, C @ np.linalg.solve(C.T @ M @ C, -C.T @ bias), strict=True))
