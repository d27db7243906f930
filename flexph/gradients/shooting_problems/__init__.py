"""Optimal control by single or multiple shooting: problems, search, and the public function.

Imports: gradients, gradients.runs, integration, kernels, mechanisms, mechanisms.model, mechanisms.poses, numerics,
results, sensors, systems.
"""
