"""Resistive laws that close ports of linear controllers, set-valued ones too, met exactly within a step.

Imports: control.loops, numerics, systems.
"""
