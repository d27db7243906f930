"""Rigid bodies of the plane: ``rigid.body``, ``rigid.bar``, ``rigid.point``."""

from .bodies import bar, body, point

__all__ = ["bar", "body", "point"]
