"""Rigid bodies of the plane and of space.

``rigid.body`` takes mass and inertia; ``rigid.bar`` (plane), ``rigid.point``, ``rigid.box``, ``rigid.cylinder`` and
``rigid.sphere`` know them; ``rigid.solid`` integrates them over a mesh.
"""

from .bodies import bar, body, point
from .shapes import box, cylinder, sphere
from .solid import solid

__all__ = ["bar", "body", "box", "cylinder", "point", "solid", "sphere"]
