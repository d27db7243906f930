"""Compliant contacts: gaps of world vectors V, W, U with exact gradients, laws of the gap, friction along the contact.

    offset    g = ±V·W − c                   distance  g = ±|V| − c
    axial     g = ±√(V·V − q²) − c           angle     g = ±(α − α*)
    rim       g = V·W − r √(1 − (W·U)²) − c   shape  g = G(V·W, V·U, V·D) − c, the distance to a surface
    segments  g = √D(V′·V′, V′·W, V′·U, W·U) − c, D the least |V + s W − t U|² + ε (s² |W|² + t² |U|²), |s|, |t| ≤ 1
    face      g = √D(V′·V′, V′·W, V′·U, W·W, W·U, U·U) − c, D the least |V − s W − t U|², s, t ≥ 0, s + t ≤ 1

with q = V·W/|W|, as directions of sections that bend are longer than one, and V′ = V + s W − t U between the closest
points of segments, V′ = V − s W − t U from that of a face, at the start of the step. Of the faces of a skin the closest
one counts, A before and B after a step; they share the force by Δg = θ Δg_A + (1 − θ) Δg_B.

A force F on a gap acts with its exact gradient, so that its work is F Δg; friction along t̄ ⟂ the gradient by V, with
torques −ρ × t̄ on the bodies.
"""

from typing import Any, NamedTuple

import numpy as np

from .kinematics import Ends
from .numbers import cross, dot, norm, turn
from .surfaces import closest, mean_gradient

OFFSET, DISTANCE, ANGLE, AXIAL, RIM, SHAPE, SEGMENTS, FACE = range(8)
EVEN = 1e-6
CLEARLY = 1e-3
"""Kinds of gaps, as the model numbers them; difference of entries of a unit normal that counts in choosing tangents."""


class Gap(NamedTuple):
    """A gap at both ends of a step, and its exact gradient by V, W, U, (3, d)."""

    value: Ends
    gradient: Any


def contact_forces(system, way, spring):
    """Generalised forces (n_v,) of all compliant contacts, forces of springs and anchors at the end, normal forces."""
    c, spring = system.contacts, spring.astype(way.velocity.dtype)
    force, normals = np.zeros_like(way.velocity), np.zeros(c.kind.size, dtype=way.velocity.dtype)
    places, rate = _touching(system, way)
    for k, own, value, share in _pressed(c, places):
        vector, vector_rate = _vectors(c, k, places), _difference(c, k, rate)
        normal = normals[k] = share * press(c, k, way.h, value)
        force = force + normal * np.einsum("vi,vin->n", own.gradient, vector_rate)
        if c.friction[k] > 0.0:
            along = _along_face(vector, vector_rate) if c.kind[k] == FACE else vector_rate[0]
            slip_rate, tangent = _slip_rates(system, way, (k, own, vector), along)
            slip = way.h * (slip_rate @ way.velocity - c.speed[k] * tangent @ vector.mean[2])
            held = slice(c.anchor[k], c.anchor[k] + system.dim)
            if c.anchor[k] < 0:
                rub = -c.friction[k] * normal * slip / np.sqrt(dot(slip, slip) + (way.h * c.slipping[k]) ** 2)
            else:
                rub, spring[held] = anchored(c, k, (normal, own.value), slip, (spring[held], tangent))
            force = force + slip_rate.T @ rub
    return force, spring, normals


def _pressed(c, places):
    """Compliant contacts with their gaps, the values that determine the force, and their shares of it."""
    for k in np.flatnonzero(~c.rigid):
        if c.kind[k] != FACE:
            own = gap(c, k, _vectors(c, k, places))
            yield k, own, own.value, 1.0
        elif k == 0 or c.skin[k - 1] != c.skin[k]:
            faces = {f: gap(c, f, _vectors(c, f, places)) for f in np.flatnonzero(c.skin == c.skin[k])}
            even = 1e-14 * (1.0 + np.abs(places.after).max())
            first, last = (
                next(f for f, own in faces.items() if own.value[end].real <= least + even)
                for end, least in enumerate(min(own.value[end].real for own in faces.values()) for end in range(2))
            )
            A, B = faces[first].value, faces[last].value
            way, back = B.before - A.before, A.after - B.after
            if first == last or (way + back).real <= even:  # both on their common edge
                yield first, faces[first], faces[first].value, 1.0
            else:
                share = way / (way + back)
                yield first, faces[first], Ends(A.before, B.after), share
                yield last, faces[last], Ends(A.before, B.after), 1.0 - share


def _along_face(vector, rate):
    """V − s W − t U, or its rates, with the places of the closest point of a face at the start of the step."""
    s, t = least_on_face(vector.before, (0.0, 0.0))[1]
    return rate[0] - s * rate[1] - t * rate[2]


def _touching(system, way):
    """Places of all nodes at both ends of the step, and their rates; of means of nodes by these."""
    moves, means = system.nodes.moves[:, None], system.nodes.means
    place = [moves * r[system.nodes.body] + arm for r, arm in zip(way.r, way.arm, strict=True)]
    rate = way.node_rate + np.einsum("kl,lin->kin", means, way.node_rate)
    return Ends(*(own + means @ own for own in place)), rate


def _vectors(c, k, places):
    """V, W, U (3, d) of a gap at both ends."""
    return Ends(*(_difference(c, k, place) + c.fixed[:, k] for place in places))


def _difference(c, k, of_nodes):
    """Differences between the nodes of V, W, U of a gap; nothing where there is none."""
    padded = np.concatenate([of_nodes, np.zeros((1, *of_nodes.shape[1:]))])
    return padded[c.plus[:, k]] - padded[c.minus[:, k]]


def gap(c, k, vector):
    """A gap over a step from its vectors at both ends."""
    kind, sign, offset = c.kind[k], c.sign[k], c.offset[k]
    (V, W, U, D), gradient = vector.mean, np.zeros_like(vector.after)
    if kind == DISTANCE:
        value = Ends(*(norm(v[0]) for v in vector))
        gradient[0] = V / value.mean
    elif kind == OFFSET:
        value = Ends(*(dot(v[0], v[1]) for v in vector))
        gradient[0], gradient[1] = W, V
    elif kind == AXIAL:
        product, length = Ends(*(dot(v[0], v[1]) for v in vector)), Ends(*(norm(v[1]) for v in vector))
        q, inverse = Ends(*(p / s for p, s in zip(product, length, strict=True))), Ends(*(1.0 / s for s in length))
        value = Ends(*(norm(v[0] - o / s * v[1]) for v, o, s in zip(vector, q, length, strict=True)))
        slope = -2.0 / (length.before * length.after * (length.before + length.after))  # Δ(1/s) = slope W̄·ΔW
        gradient[0] = (V - q.mean * inverse.mean * W) / value.mean
        gradient[1] = -q.mean * (inverse.mean * V + product.mean * slope * W) / value.mean
    elif kind == SHAPE:
        axes = (W, U, D)[: V.size]
        place = Ends(*(np.array([dot(v[0], v[1 + i]) for i in range(V.size)]) for v in vector))
        near = [closest(c.shape[k], x, c.blend[k]) for x in place]
        n = mean_gradient(place, near)
        value = Ends(*(own.value for own in near))
        gradient[0] = sum(a * b for a, b in zip(n, axes, strict=True))
        gradient[1 : 1 + V.size] = np.multiply.outer(n, V)
    elif kind == SEGMENTS:
        s, t = base_points(vector.before)
        joined = Ends(*(np.array([v[0] + s * v[1] - t * v[2], *v[1:3]]) for v in vector))  # between the base points
        V = joined.mean[0]
        pi = Ends(*(segments(v)[2] for v in joined))
        near = [least_square(*segments(v), (s, t)) for v in joined]
        value = Ends(*(np.sqrt(own[0]) for own in near))
        slope, way = 0.5 * (near[0][1] + near[1][1]), pi.change
        n = slope + (near[1][0] - near[0][0] - dot(slope, way)) / dot(way, way) * way if np.any(way != 0.0) else slope
        n = n / (2.0 * value.mean)
        gradient[:3] = np.array([2.0 * n[0] * V + n[1] * W + n[2] * U, n[1] * V + n[3] * U, n[2] * V + n[3] * W])
        gradient[1:3] += np.array([s * gradient[0], -t * gradient[0]])
    elif kind == FACE:
        s, t = least_on_face(vector.before, (0.0, 0.0))[1]
        joined = Ends(*(np.array([v[0] - s * v[1] - t * v[2], *v[1:3]]) for v in vector))
        pi = Ends(*(np.array([dot(v[i], v[j]) for i, j in OF_FACE]) for v in joined))
        near = [least_on_face(v, (s, t)) for v in joined]
        value = Ends(*(np.sqrt(own[0]) for own in near))
        slopes = [np.array([1.0 + 0.0 * a, -2.0 * a, -2.0 * b, a * a, 2.0 * a * b, b * b]) for _, (a, b) in near]
        slope, way = 0.5 * (slopes[0] + slopes[1]), pi.change
        n = slope + (near[1][0] - near[0][0] - dot(slope, way)) / dot(way, way) * way if np.any(way != 0.0) else slope
        n, V = n / (2.0 * value.mean), joined.mean[0]
        gradient[0] = 2.0 * n[0] * V + n[1] * W + n[2] * U
        gradient[1] = n[1] * V + 2.0 * n[3] * W + n[4] * U - s * gradient[0]
        gradient[2] = n[2] * V + n[4] * W + 2.0 * n[5] * U - t * gradient[0]
    elif kind == RIM:
        r, tilt = c.share[0, k], Ends(*(dot(v[1], v[2]) for v in vector))
        up = Ends(*(np.sqrt(1.0 - q**2) for q in tilt))
        value = Ends(*(dot(v[0], v[1]) - r * s for v, s in zip(vector, up, strict=True)))
        lean = r * tilt.mean / up.mean  # −r Δs = lean ΔΠ
        gradient[:3] = np.array([W, V + lean * U, lean * W])
    else:
        s, c_ = (Ends(*(dot(v[0], v[i]) for v in vector)) for i in (1, 2))
        start = turn(s.before, c_.before)[0]
        change, kappa = turn(s.after * c_.before - c_.after * s.before, c_.before * c_.after + s.before * s.after)
        value = Ends(start, start + change)
        gradient[:3] = kappa * np.array([c_.mean * W - s.mean * U, c_.mean * V, -s.mean * V])
    return Gap(Ends(*(sign * g - offset for g in value)), sign * gradient)


OF_FACE = (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)


def least_on_face(v, base):
    """D from V′ (or V, with base 0, 0), and the places s and t from the base: inside, on an edge or at a corner."""
    V, W, U = v[:3]
    low, high, rest = -base[0], -base[1], 1.0 - base[0] - base[1]
    tries = [(low, high), (low + 1.0, high), (low, high + 1.0), ((dot(V, W) - high * dot(W, U)) / dot(W, W), high)]
    if np.any(U != 0.0):
        tries += [(low, (dot(V, U) - low * dot(W, U)) / dot(U, U))]
        s = dot(V - rest * U, W - U) / dot(W - U, W - U)
        tries += [(s, rest - s)]
        area = dot(W, W) * dot(U, U) - dot(W, U) ** 2
        s, t = (dot(V, W) * dot(U, U) - dot(V, U) * dot(W, U)), (dot(V, U) * dot(W, W) - dot(V, W) * dot(W, U))
        tries += [(s / area, t / area)]
    else:
        tries.pop(2)
    small = -1e-13
    tries = [
        (s, t)
        for s, t in tries
        if np.real(s - low) > small and np.real(t - high) > small and np.real(rest - s - t) > small
    ]
    apart = [V - s * W - t * U for s, t in tries]
    k = int(np.argmin([dot(a, a).real for a in apart]))
    return dot(apart[k], apart[k]), tries[k]


def segments(v):
    """Squares |W|² and |U|², and products V·V, V·W, V·U, W·U."""
    V, W, U = v[:3]
    return dot(W, W), dot(U, U), np.array([dot(V, V), dot(V, W), dot(V, U), dot(W, U)])


def base_points(v):
    """Places s and t of the closest points of two segments."""
    return least_square(*segments(v), (0.0, 0.0))[2]


def least_square(first, second, x, base):
    """D at the products x of V′, its gradient, and the places s and t: the least over all ends and inner points."""
    a, b = (1.0 + EVEN) * first, (1.0 + EVEN) * second
    one, other = x[1] + EVEN * first * base[0], x[2] - EVEN * second * base[1]
    s = (x[3] * other - b * one) / (a * b - x[3] ** 2)
    tries = [(s, (x[3] * s + other) / b)]
    for end in (-1.0, 1.0):
        s, t = end - base[0], end - base[1]
        tries += [(s, (x[3] * s + other) / b), ((x[3] * t - one) / a, t), (s, 1.0 - base[1]), (s, -1.0 - base[1])]
    tries = [
        pair for pair in tries if all(abs(np.real(o + own)) <= 1.0 + 1e-12 for o, own in zip(base, pair, strict=True))
    ]
    values = [
        x[0] + 2.0 * s * x[1] - 2.0 * t * x[2] - 2.0 * s * t * x[3] + s**2 * first + t**2 * second
        + EVEN * ((s + base[0]) ** 2 * first + (t + base[1]) ** 2 * second)
        for s, t in tries
    ]  # fmt: skip
    k = int(np.argmin(np.real(values)))
    s, t = tries[k]
    return values[k], np.array([1.0 + 0.0 * s, 2.0 * s, -2.0 * t, -2.0 * s * t]), (s + base[0], t + base[1])


def gap_at(c, k, place):
    """A gap with the nodes at places (k, d)."""
    vector = _difference(c, k, place) + c.fixed[:, k]
    return gap(c, k, Ends(vector, vector)).value.after


def stored(c, k, g):
    """V = K δⁿ⁺¹/(n + 1), δ = max(−g, 0)."""
    n = c.exponent[k]
    return c.stiffness[k] * (-g if g.real < 0.0 else 0.0 * g) ** (n + 1.0) / (n + 1.0)


def press(c, k, h, g):
    """The normal force of a contact over a step: −ΔV/Δg of V = K δⁿ⁺¹/(n + 1), δ = max(−g, 0), and losses; no pull.

    P = F (1 − c ġ) − d χ ġ, χ the share of the way in contact.
    """
    K, n = c.stiffness[k], c.exponent[k]
    d0, d1 = (-value if value.real < 0.0 else 0.0 * value for value in g)
    if d0.real == 0.0 and d1.real == 0.0:
        return 0.0 * d1
    if d0.real > 0.0 and d1.real > 0.0:
        a, b = np.sqrt(d0), np.sqrt(d1)
        hertz = 0.4 * K * (a**4 + a**3 * b + a**2 * b**2 + a * b**3 + b**4) / (a + b)
        elastic, share = (0.5 * K * (d0 + d1) if n == 1.0 else hertz), 1.0
    else:
        elastic, share = -(stored(c, k, g.after) - stored(c, k, g.before)) / g.change, (d0 - d1) / g.change
    rate = g.change / h
    force = elastic * (1.0 - c.loss[k] * rate) - c.damping[k] * share * rate
    return force if force.real > 0.0 else 0.0 * force


def _slip_rates(system, way, at, rate):
    """Slips along both tangents as maps of the velocities (t, n_v): t̄·V̇ − Σ (ρ × t̄)·Ω; and the tangents (t, d)."""
    c, (k, own, vector) = system.contacts, at
    normal, middle, flat = own.gradient[0], vector.mean[0], c.kind[k] in (OFFSET, SHAPE)
    tangent = _tangents(normal)
    first = c.share[0, k] * (normal if flat else middle)
    second = middle - first if flat else c.share[1, k] * middle
    if c.kind[k] == SEGMENTS:
        places = [base_points(v)[0] for v in vector]
        first = c.share[0, k] * normal - 0.5 * (places[0] + places[1]) * vector.mean[1]
        second = middle - first
    if c.kind[k] == FACE:
        first, second = _along_face(vector, vector.mean), 0.0 * middle
    if c.kind[k] == RIM:
        _, W, U, _ = vector.mean
        tilt = Ends(*(dot(v[1], v[2]) for v in vector))
        up = Ends(*(np.sqrt(1.0 - q**2) for q in tilt))
        first = c.share[0, k] * (W - tilt.mean * U) / up.mean + c.share[1, k] * W
        second = middle - first
    rates = tangent @ rate
    for b, arm in zip(c.body[:, k], (first, second), strict=True):
        if b >= 0:
            rates = rates - np.array([cross(arm, t) for t in tangent]) @ way.spin_rate[b]
    return rates, tangent


def _tangents(normal):
    """Vectors (t, d) across the normal and as long as it: in space the first one is across the axis most across it.

    Of axes that are equally across it, up to ``CLEARLY``, it is the first one, so that round-off has no choice.
    """
    if normal.size == 2:
        return np.array([[normal[1], -normal[0]]])
    unit, least = normal / norm(normal), 0
    for i in (1, 2):
        least = i if abs(unit[i].real) < abs(unit[least].real) - CLEARLY else least
    first = cross(np.eye(3)[least], unit)
    first = norm(normal) / norm(first) * first
    return np.array([first, cross(unit, first)])


def anchored(c, k, pressed, slip, held):
    """Friction (t,) held by an anchor of stiffness k, and its force (d,) at the end of the step.

    The trial f₀ + ½kΔs sticks up to μP; beyond it slips with |F| = μP. An anchor turns with its contact.
    """
    (normal, g), (force, tangent), k_ = pressed, held, c.holding[k]
    unit = tangent / norm(tangent)[:, None]
    parts = unit @ force
    length = norm(parts)
    before = parts * norm(force) / length if length.real > 0.0 else parts
    trial, bound = before + 0.5 * k_ * slip, c.friction[k] * normal
    size = norm(trial)
    if size.real > bound.real:
        own = bound / size * trial
        after = 2.0 * own - before
        after = bound / norm(after) * after if norm(after).real > bound.real else after
    else:
        own, after = trial, before + k_ * slip
    return -own, (0.0 if g.after.real >= 0.0 else 1.0) * after @ unit
