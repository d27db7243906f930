"""Runs of general systems: discrete gradients, collocation, and the solvers of libraries.

Imports: consistency, discretisation, integration.methods, integration.times, kernels.convergence, laws,
mechanisms.equations, mechanisms.model, mechanisms.poses, numerics, numerics.loops, results, systems.
"""
