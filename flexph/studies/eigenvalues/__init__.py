"""Derivatives of frequencies, poles, Floquet multipliers, buckling factors and system norms by parameters.

Imports: analysis, integration.methods, kernels, linear, linear.eigenmodes, mechanisms, mechanisms.model,
mechanisms.poses, mechanisms.statics, numerics, systems.
"""
