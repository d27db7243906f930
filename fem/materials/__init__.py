"""Materials, cross sections and damping of finite-element bodies.

Imports: flexph, flexph.bodies, flexph.meshes, flexph.numerics, flexph.numerics.factors, flexph.systems.
"""
