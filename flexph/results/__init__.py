"""What runs return: solutions, trajectories, the energy ledger, and how they are kept in files.

Imports: bodies, joints.rows, kernels, mechanisms, mechanisms.model, mechanisms.poses, numerics, systems.
"""
