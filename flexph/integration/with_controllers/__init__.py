"""Blocks of steps with controllers: sampled ones are called between the steps, others are solved within them.

Imports: control, control.loops, integration.blocks, integration.loops.memory, integration.schemes, integration.times,
numerics, numerics.loops, sensors.
"""
