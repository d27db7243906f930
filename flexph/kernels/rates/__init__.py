"""Terms of velocities by products, w Π_by Π̇ and w θ̇ of angles, friction against what they sum to, points on curves.

Imports: numerics, systems.
"""
