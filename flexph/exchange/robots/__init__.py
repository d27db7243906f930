"""Robots from URDF files as bodies and joints.

Imports: files, numerics, robots.links.
"""
