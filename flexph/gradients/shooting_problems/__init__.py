"""Optimal control as a shooting problem: single or multiple, its search, and the public call.

Imports: gradients, gradients.runs, integration, kernels, mechanisms, mechanisms.model, mechanisms.poses, numerics,
results, sensors, systems.
"""
