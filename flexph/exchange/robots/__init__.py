"""Robots from URDF files as bodies and joints.

Imports: files, joints, joints.rows, numerics, robots.links.
"""
