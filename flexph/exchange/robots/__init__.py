"""Robots of files as bodies and joints.

Imports: bodies, contacts, joints, joints.forces, joints.rows, joints.transmissions, mechanisms.model, numerics,
sensors, systems.
"""
