"""Velocity terms of products, w Π_by Π̇, and of angles, w θ̇; friction against slips; points on curves.

Imports: laws, numerics.
"""
