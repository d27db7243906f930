"""Compiled iteration for the inputs that couple controllers and a mechanism within a step.

Imports: numerics, numerics.loops, sensors.
"""
