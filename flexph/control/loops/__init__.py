"""Loops by which controllers and a mechanism agree on the inputs of a step; compiled ahead of time.

Imports: numerics, numerics.loops, sensors.
"""
