"""Stresses of bodies at points of their cells, for pictures, reports, files and sensors.

Imports: bodies, numerics.
"""
