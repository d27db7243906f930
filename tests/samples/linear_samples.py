"""Small linear systems that several tests take."""

from dataclasses import replace

import numpy as np
from scipy import sparse

import fem
from flexph import GROUND, LinearPHDAE, connect, force, hinge, torque, weld


def random_system(seed=0, size=9, width=2, constraints=2, loss=3):
    """A random constrained passive system with ports ``a`` (wide) and ``b``."""
    draw = np.random.default_rng(seed).standard_normal
    root, free, dissipating = draw((size, size)), draw((size, size)), draw((size, loss))
    return LinearPHDAE(
        E=root @ root.T + np.eye(size),
        J=free - free.T,
        R=dissipating @ dissipating.T,
        B=draw((size, width + 1)),
        G=draw((constraints, size)),
        ports={"a": slice(0, width), "b": slice(width, width + 1)},
    )


def chain(masses, loss=0.0):
    """Unit masses on unit springs in a row, the first held by a spring, with ports at both ends."""
    D = np.eye(masses) - np.eye(masses, k=-1)
    B = np.zeros((2 * masses, 2))
    B[0, 0] = B[masses - 1, 1] = 1.0
    return LinearPHDAE(
        E=np.eye(2 * masses),
        J=np.block([[np.zeros((masses, masses)), -D.T], [D, np.zeros((masses, masses))]]),
        R=np.diag([loss] * masses + [0.0] * masses),
        B=B,
        ports={"first": slice(0, 1), "last": slice(1, 2)},
        kinetic=np.arange(2 * masses) < masses,
    )


def frame(elements=4, lock=weld, loss=1e-5):
    """Two aluminium beams on a hinge with a force and a torque."""
    material, section = fem.Material(young=7.1e10, density=2714.0), fem.Section(area=4e-5, second_moment=8.7e-12)
    beam = fem.beam(0.3, material, section, elements=elements, damping=fem.Damping(stiffness=loss))
    mechanism = connect(
        {"a": beam, "b": beam},
        [
            lock("a.root", GROUND),
            hinge("a.tip", "b.root"),
            hinge("b.tip", GROUND.at(0.3 * 2**0.5, 0.0)),
            force("b.root"),
            torque("a.root"),
        ],
    )
    return mechanism.linearize(mechanism.assemble({"a": (0.0, 0.0, np.pi / 4)}, guess={"b": -np.pi / 4}))


def to_sparse(system):
    return replace(system, **{name: sparse.csr_array(getattr(system, name)) for name in "EJRBG"})
