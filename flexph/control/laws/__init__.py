"""Resistive laws that close ports of linear controllers, set-valued ones too, met exactly within a step.

Imports: control.compiled, numerics, systems.
"""
