"""Blocks of finite strain that joints, a rigid body and pressure couple; shared by tests/fem/solids."""

import fem
import rigid
from flexph import connect, distributed_load, hinge, revolute

SOFT = fem.Material(young=1e4, density=1000.0, poisson=0.3)


def mesh(dim):
    """Three cells along a bar."""
    return fem.box_mesh((0.4, 0.1, 0.1)[:dim], (3, 1, 1)[:dim])


def mechanism(dim, law):
    """Two blocks with damping, one under pressure, that are joined to each other and to a rigid body."""
    plane = {"plane": "strain", "thickness": 0.1} if dim == 2 else {}
    options = {"degree": 2, "strain": "finite", "damping": fem.Damping(stiffness=1e-3), "law": law, **plane}
    ports = {"root": "left", "tip": "right"}
    blocks = {
        "a": fem.solid(mesh(dim), SOFT, ports=ports, loads={"top": "back"}, **options),
        "b": fem.solid(mesh(dim), SOFT, ports={"root": "left"}, **options),
    }
    hub = rigid.body(0.5, inertia=0.01 if dim == 2 else (0.01, 0.02, 0.03), ports={"pin": (0.05, 0.02, 0.0)[:dim]})
    joint = hinge if dim == 2 else lambda *ports: revolute(*ports, axis=(0.0, 0.0, 1.0))
    joints = [joint("a.tip", "b.root"), joint("a.root", "hub.pin"), distributed_load("a.top", axes="face", name="p")]
    return connect({**blocks, "hub": hub}, joints)
