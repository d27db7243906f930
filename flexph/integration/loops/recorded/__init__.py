"""Derivatives of runs by the discrete adjoint of their steps, whose residuals are taken over recorded numbers.

Imports: integration.loops.gauss, integration.loops.mechanics, integration.loops.memory, integration.loops.nodal,
integration.loops.steps, integration.loops.terms, numerics, numerics.algebra, numerics.loops.
"""
