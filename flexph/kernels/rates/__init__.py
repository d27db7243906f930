"""Terms of velocities by products, w Π_by Π̇ and w θ̇ of angles, and forces of friction against what they sum to.

Imports: numerics, systems.
"""
