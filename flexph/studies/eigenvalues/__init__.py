"""Derivatives by parameters of frequencies, poles, Floquet multipliers and buckling factors, and of norms.

Imports: analysis, integration.methods, kernels, linear, linear.eigenmodes, mechanisms, mechanisms.model,
mechanisms.poses, mechanisms.statics, numerics, systems.
"""
