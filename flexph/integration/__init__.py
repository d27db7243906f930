"""Time integration: mechanisms by the exact scheme and its relatives, general systems by all methods.

Imports: bodies, changes, control, files, integration.blocks, integration.general, integration.methods,
integration.schemes, integration.times, integration.with_controllers, joints, joints.rows, kernels, mechanisms,
mechanisms.equations, mechanisms.model, mechanisms.poses, numerics, results, sensors, switching, systems, view.live.
"""
