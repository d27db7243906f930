"""Contacts as arrays: gaps and their gradients, and the normal and friction forces of compliant contacts.

Begin with the data of contacts (:mod:`.gap_arrays`) and the gaps (:mod:`.gaps`), then read the forces (:mod:`.laws`).
Contacts that stay closed at rest act as springs or constraints on distances (:mod:`.distances`).

Imports: kernels.surfaces, numerics.
"""
