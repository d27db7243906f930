"""Rigid bodies in the plane and in space, and multibody systems in redundant coordinates.

``rigid.body`` takes mass and inertia; ``rigid.bar`` (plane), ``rigid.point``, ``rigid.box``, ``rigid.cylinder`` and
``rigid.sphere`` compute them from a shape; ``rigid.solid`` integrates them over a mesh. All are bodies for
:func:`flexph.connect`. :class:`MultibodySystem` takes a system in the form of [rigid] eq. (10), as matrices and
functions; ``rigid.free_body`` and ``rigid.pivoted_body`` build systems of single bodies. Coordinates of rotations are
``rigid.rotation_matrix``, ``rigid.quaternion`` and ``rigid.angles`` in space, and ``rigid.angle`` in the plane.
``rigid.point_masses`` makes a system of point masses, rods, springs and dashpots; ``rigid.particle_system`` makes the
:class:`flexph.PHDAE` of particles with built-in laws, which steps in compiled loops.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
