"""Links and joints of robots as bodies and connections.

Imports: bodies, contacts, control, joints, joints.forces, joints.rows, laws, mechanisms.model, numerics, sensors.
"""
