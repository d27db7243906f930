"""Flexible coordinates of bodies for the compiled loops: inertia, strain rows and stiffness by their entries.

Imports: bodies, integration.compiled.memory, kernels, mechanisms.model, numerics.
"""
