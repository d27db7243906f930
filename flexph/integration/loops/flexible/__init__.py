"""Flexible coordinates of bodies for the compiled loops: inertia, strain rows and stiffness by their entries.

Imports: bodies, integration.loops.memory, kernels, mechanisms.model, numerics.
"""
