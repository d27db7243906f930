"""Time integration: mechanisms by the exact scheme, general systems by all methods.

Imports: bodies, control, files, integration.blocks, integration.contact, integration.exact, integration.general,
integration.loops, integration.loops.memory, integration.loops.wide, integration.methods, integration.times,
joints, joints.rows, kernels, mechanisms, mechanisms.equations, mechanisms.model, mechanisms.poses,
numerics, results, sensors, switching, systems.
"""
