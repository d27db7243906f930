"""Responses of linear systems in frequency and time, zeros, damping ratios, and sweeps over a pose or parameter.

Imports: display, linear, linear.eigenmodes, numerics, systems.
"""
