"""Random circuits, and their answers by the sparse tableau: potentials, voltages and currents of all as unknowns."""

import numpy as np

from flexph.circuits import (
    Source,
    capacitor,
    circuit,
    current_source,
    gyrator,
    inductor,
    resistor,
    transformer,
    voltage_source,
)
from flexph.circuits.elements import branches

MAKERS = {"C": capacitor, "L": inductor, "R": resistor, "V": voltage_source, "I": current_source}
KINDS = "CLRVICLR"


def elements(seed, *, two_ports=True):
    """3 to 6 nodes, a spanning tree of random elements and 2 to 6 more, half the time a transformer and a gyrator."""
    rng = np.random.default_rng(seed)
    count, made = int(rng.integers(3, 7)), {}
    nodes = ["gnd", *(f"n{k}" for k in range(1, count))]

    def pair():
        return tuple(nodes[k] for k in rng.choice(count, 2, replace=False))

    def add(ends):
        kind = str(rng.choice(list(KINDS)))
        values = () if kind in "VI" else (float(np.exp(rng.uniform(-1.0, 1.0))),)
        made[f"{kind}{len(made)}"] = MAKERS[kind](*ends, *values)

    for k in range(1, count):
        add((nodes[k], nodes[int(rng.integers(0, k))]))
    for _ in range(int(rng.integers(2, 7))):
        add(pair())
    for name, make in (("T", transformer), ("G", gyrator)):
        if rng.random() < 0.5 and two_ports:
            made[name] = make(pair(), pair(), float(rng.uniform(0.5, 3.0)))
    return made


def circuits(count, *, two_ports=True, first=0):
    """The first circuits that are well-posed, with sources and storage: (seed, elements, circuit)."""
    found, seed = [], first
    while len(found) < count:
        drawn = elements(seed, two_ports=two_ports)
        try:
            made = circuit(drawn)
            regular = tableau(drawn, made.nodes, 1j) is not None
        except ValueError:  # loops of sources, elements that end alone
            regular = False
        if regular and any(isinstance(e, Source) for e in drawn.values()):
            found.append((seed, drawn, made))
        seed += 1
    return found


def tableau(drawn, nodes, s):
    """y = Z u at a complex frequency, as the sources are ports; None where it is singular."""
    edges = [(name, pair, *ends) for name, element in drawn.items() for pair, ends in enumerate(branches(element))]
    place = {(name, pair): k for k, (name, pair, *_) in enumerate(edges)}
    sources = [name for name, element in drawn.items() if isinstance(element, Source)]
    free = [node for node in nodes if node != "gnd"]
    n, m = len(free), len(edges)
    A = np.zeros((n, m))
    for k, (_, _, plus, minus) in enumerate(edges):
        for node, sign in ((plus, 1.0), (minus, -1.0)):
            if node in free:
                A[free.index(node), k] += sign
    matrix, right = np.zeros((n + 2 * m, n + 2 * m), complex), np.zeros((n + 2 * m, len(sources)))
    matrix[:n, n + m :] = A
    matrix[n : n + m, :n], matrix[n : n + m, n : n + m] = -A.T, np.eye(m)
    for k, (name, pair, *_) in enumerate(edges):
        row, v, i = matrix[n + m + k], n + k, n + m + k
        element = drawn[name]
        if element.kind == "capacitor":
            row[v], row[i] = s * element.energy.capacity, -1.0
        elif element.kind == "inductor":
            row[v], row[i] = -1.0, s * element.energy.capacity
        elif element.kind == "resistor":
            row[v], row[i] = 1.0, -element.relation.parameters[0]
        elif isinstance(element, Source):
            row[v if element.kind == "voltage source" else i] = 1.0
            right[n + m + k, sources.index(name)] = 1.0 if element.kind == "voltage source" else -1.0
        else:
            _two_port(row, (v, i), (n + place[name, 1 - pair], n + m + place[name, 1 - pair]), element, pair)
    if np.linalg.cond(matrix) > 1e8:
        return None
    solved = np.linalg.solve(matrix, right)
    rows = [n + m + place[s, 0] if drawn[s].kind == "voltage source" else n + place[s, 0] for s in sources]
    signs = [-1.0 if drawn[s].kind == "voltage source" else 1.0 for s in sources]
    return np.array(signs)[:, None] * solved[rows]


def _two_port(row, own, other, element, pair):
    """v₁ = n v₂, i₂ = −n i₁ or v₁ = −r i₂, v₂ = r i₁, each in the row of its pair."""
    if element.kind == "gyrator":
        row[own[0]], row[other[1]] = 1.0, element.ratio if pair == 0 else -element.ratio
    elif pair == 0:
        row[own[0]], row[other[0]] = 1.0, -element.ratio
    else:
        row[own[1]], row[other[1]] = 1.0, element.ratio
