"""Springs with hysteresis: the inner extension z follows the slip s of a step, and the force is the mean of k z.

    Bouc-Wen   dz/ds = 1 − (β sgn(z ds) + γ)|z|ⁿ
    bristle    dz/ds = sgn(ds) − σ₀z/g(v),   F = σ₀ z̄ + (σ₁Δz + σ₂Δs)/h

By z → −z, s → −s every slip is one forward. Formulas are analytic, for complex steps.
"""

import numpy as np

PARTS = 8
"""Equal parts of the slip for Bouc-Wen's law with n ≠ 1, each by the midpoint rule."""


def followed(law, z, slip, h):
    """Mean force over a slip, and z at its end."""
    way = 1.0 if slip.real >= 0.0 else -1.0
    force, end = {"bouc_wen": bouc_wen, "bristle": bristle}[law.kind](law.parameters, way * z, way * slip, h)
    return way * force, way * end


def bouc_wen(parameters, z, slip, h):
    """Exponentials on each side of zero for n = 1; otherwise the midpoint rule in parts."""
    k, beta, gamma, n = parameters
    if n != 1.0:
        mean, end = in_parts(z, slip, lambda y: beta + gamma if y.real >= 0.0 else gamma - beta, n)
        return k * mean, end
    area, left = 0.0, slip
    if z < 0.0:
        c = beta - gamma
        to_zero = np.log(1.0 - c * z) / c if c else -z
        own = to_zero if to_zero < slip.real else slip
        mean, z = relaxed(z, c, own)
        area, left = mean * own, slip - own
    mean, z = relaxed(z, beta + gamma, left)
    return k * (area + mean * left) / slip, z


def relaxed(z, c, slip):
    """Mean and end of z over a slip of dz/ds = 1 − c z."""
    if c == 0.0:
        return z + 0.5 * slip, z + slip
    if slip == 0.0:
        return z, z
    decay = -np.expm1(-c * slip)
    return 1.0 / c + (z - 1.0 / c) * decay / (c * slip), z + (1.0 / c - z) * decay


def in_parts(z, slip, c, n):
    """Mean and end of z by the midpoint rule: y = z + ½ ds (1 − c|y|ⁿ) in each part."""
    part, middles = slip / PARTS, []
    for _ in range(PARTS):
        y = z
        for _ in range(100):  # Newton's method
            size = y if y.real >= 0.0 else -y
            defect = y - z - 0.5 * part * (1.0 - c(y) * size**n)
            y = y - defect / (1.0 + 0.5 * part * abs(c(y)) * n * size ** (n - 1.0))
        middles.append(y)
        z = 2.0 * y - z
    return np.mean(middles), z


def bristle(parameters, z, slip, h):
    """Exponential decay towards g/σ₀, with g of the rate, and a damping that stays passive."""
    k, damping, viscous, static, sliding, stribeck = parameters
    rate = slip / h
    bound = sliding + (static - sliding) * np.exp(-((rate / stribeck) ** 2))
    mean, end = relaxed(z, k / bound, slip)
    taken = damping if damping * rate.real <= 4.0 * bound.real else 4.0 * bound / rate
    return k * mean + taken * (end - z) / h + viscous * rate, end
