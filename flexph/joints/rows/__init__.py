"""Constraint rows, springs, dampers and slips of joints, as functions of scalar products of world vectors.

Read ``vectors`` (points, directions and their products) first, then ``laws`` (constraint rows of products) and
``connection`` (a joint as a list of rows). The package does not import bodies.
Imports: drawing, kernels.surfaces, laws, numerics, units.
"""
