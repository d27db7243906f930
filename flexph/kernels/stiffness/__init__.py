"""The tangent stiffness of a mechanism, and the magnitude of the terms in its sum.

Begin with :mod:`.tangent`; its parts are in :mod:`.forms`, and those of a steady motion in :mod:`.steady_slopes`. The
magnitude (:mod:`.stiffness_size`) bounds the round-off of the stiffness.

Imports: kernels, kernels.contacts, kernels.rates, numerics.
"""
