"""Steps of the decaying scheme, which lose energy, in loops (formulas of kernels.decay).

Bodies have full or banded matrices B and A: by B a loss z of the rates is computed, which is subtracted from the end
rates 2ŵ − w₀ that a step without loss would have; A softens the stresses. w are
the rates (ω, u̇) of a body, ŵ their mean over a step, 0 and 1 its start and end, α the share of the loss. The strain
rows are D₀ without deformation, D₁ at the end and D̄ in the mean of the step, C⁻¹ is the stiffness of the stresses, and
φ̄u the shift of the centre of mass by the flexible coordinates u.

Imports: integration.loops.memory, integration.loops.terms, kernels.convergence, numerics, numerics.algebra,
numerics.loops.
"""
