"""Solids of finite strain in loops: stresses, forces and stiffness by cells, laws, and loads that follow faces.

Imports: bodies, discrete_gradients, integration.loops.memory, integration.loops.terms, kernels, mechanisms.model,
numerics, numerics.loops.
"""
