"""Finite-element bodies: beams, rods, plates and solids; materials, sections, damping, ties, supports, loads, cuts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
