"""Joints that hold two joint coordinates in a constant ratio: gears, belts, racks.

Imports: joints.rows, numerics, units.
"""
