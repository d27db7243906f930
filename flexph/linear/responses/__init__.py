"""Responses of linear systems in frequency and time, zeros, damping ratios, and sweeps over a pose or parameter.

Imports: linear, linear.eigenmodes, numerics, systems.
"""
