"""Contacts of shapes at ports, stops of joint coordinates, and their laws.

A contact (:mod:`.pairs`) joins two shapes (:mod:`.shapes`, :mod:`.surfaces`, :mod:`.skins`) by a law (:mod:`.laws`). It
becomes gaps of pairs of their parts (:mod:`.parts`), and these become arrays (:mod:`.arrays`). A run searches for near
gaps (:mod:`.broad_phase`), and solves the laws of rigid contacts for impulses (:mod:`.levels`, :mod:`.loops`).

Imports: bodies, drawing, joints.rows, kernels, kernels.contacts, kernels.convergence, kernels.surfaces, laws,
meshes.files, numerics, systems, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
