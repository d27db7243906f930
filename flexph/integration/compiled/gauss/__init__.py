"""Gauss collocation in loops: a memory for each stage, and the factors of the exact scheme at complex steps.

Imports: integration.compiled.loops, integration.compiled.memory, integration.compiled.steps,
integration.compiled.terms, kernels, numerics, numerics.compiled.
"""
