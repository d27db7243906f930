"""Robots from URDF files as bodies and joints.

Imports: bodies, contacts, files, joints, joints.forces, joints.rows, laws, mechanisms.model, numerics, sensors.
"""
