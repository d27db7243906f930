"""Dissipative laws, set-valued ones included, that close ports of linear controllers and hold exactly within a step.

Imports: control.loops, laws, numerics, systems.
"""
