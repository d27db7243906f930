"""Rigid bodies of the plane and of space, and multibody systems in redundant coordinates.

``rigid.body`` takes mass and inertia; ``rigid.bar`` (plane), ``rigid.point``, ``rigid.box``, ``rigid.cylinder`` and
``rigid.sphere`` know them; ``rigid.solid`` integrates them over a mesh: bodies for :func:`flexph.connect`.
:class:`MultibodySystem` takes a system as [rigid] eq. (10) writes it, of matrices and functions;
``rigid.free_body`` and ``rigid.pivoted_body`` build those of single bodies, whose rotations are kept by
``rigid.rotation_matrix``, ``rigid.quaternion`` or ``rigid.angles``, in the plane by ``rigid.angle``;
``rigid.point_masses`` makes one of point masses, rods, springs and dashpots; ``rigid.particle_system`` makes the
:class:`flexph.PHDAE` of those whose laws are known, which steps in loops.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
