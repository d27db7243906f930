"""Materials, cross sections and damping of finite-element bodies.

Imports: flexph.bodies, flexph.discrete_gradients, flexph.linear.eigenmodes, flexph.meshes, flexph.meshes.abaqus,
flexph.numerics, flexph.numerics.factors, flexph.systems, flexph.units.
"""
