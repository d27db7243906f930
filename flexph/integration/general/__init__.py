"""Runs of general systems: discrete gradients, collocation, and the solvers of libraries.

Imports: consistency, discretisation, integration.general.particles, integration.methods, integration.times,
kernels.convergence, mechanisms.equations, mechanisms.model, mechanisms.poses, numerics, results, systems.
"""
