"""Optimal control as a shooting problem: single or multiple, its search, and the public call.

Imports: gradients, integration, kernels, mechanisms, mechanisms.model, mechanisms.poses, numerics, results, sensors,
systems.
"""
