"""Contacts of a mechanism as arrays of the compiled loops: nodes of gaps, columns of the ledger, and work space."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...bodies.ports import find_port
from ...contacts.broad_phase import contact_sides
from ...contacts.loops.island_space import LARGEST
from ...joints.rows.vectors import Ground
from ...kernels.contacts.gap_arrays import VECTORS
from ...kernels.contacts.gap_arrays import Contacts as Gaps
from ...kernels.contacts.laws import in_tables
from ...kernels.surfaces.surfaces import PLACES, Surfaces
from ...mechanisms.model.accounts import KINDS, WAYS, Accounts
from ...numerics.arrays import Array
from .memory.connection_data import Contacts
from .memory.data import Index, Nodes
from .memory.memory import FIELDS, Memory
from .memory.step_space import StrikeSpace, TouchSpace
from .near_pairs import NearPairs, on_sides

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model


def contacts_of(mechanism: Model, near: Index) -> Contacts:
    """Arrays of the contacts whose numbers are in ``near``, in their order."""
    if not near.size:
        return _no_contacts(mechanism.layout.dim)
    c, accounts = mechanism.once(NearPairs).contacts.take(near), mechanism.once(Accounts)
    impulses, place = len(accounts.work) + len(accounts.joint_work), np.searchsorted(accounts.compliant, c.owner)
    names = ("stiffness", "exponent", "loss", "damping", "friction", "slipping", "holding", "pair", "rows")
    in_table = c.pair > 0
    anchor = springs_of(mechanism) + mechanism.layout.dim * (np.cumsum(in_table) - 1)
    return Contacts(
        kind=c.kind,
        rigid=c.rigid,
        sign=c.sign,
        offset=c.offset,
        node=np.stack([c.plus, c.minus], axis=1).reshape(2 * VECTORS, -1).T,
        fixed=c.fixed.transpose(1, 0, 2),
        body=c.body.T,
        share=c.share.T,
        **{name: getattr(c, name) for name in names},
        anchor=np.where(in_table, anchor, c.anchor),
        table=c.anchor,
        stored=place,
        pressed=impulses + c.owner,
        rubbed=impulses + accounts.touching + c.owner,
        lost=impulses + len(accounts.impulses) + accounts.first_contact + place,
        sides=(sides := _sides(mechanism, c)),
        parts=_parts(mechanism, sides),
        restitution=c.restitution,
        struck=_struck(accounts, c),
        speed=c.speed,
        timed=c.timed,
        driven=c.driven,
        rubbing=c.rubbing,
        surface=_surfaces(accounts, c),
        wheel=_wheels(mechanism, c),
        shape=_shapes(mechanism, c),
        blend=c.blend,
        skin=c.skin,
    )


def _wheels(mechanism: Model, contacts: Gaps) -> Index:
    """Number of the slip of the wheel that each contact (c,) presses on the ground; −1 for other contacts."""
    slips = mechanism.network.arrays.slips
    wheel = np.full(1 + int(contacts.owner.max(initial=-1)), -1)
    slip = np.flatnonzero(slips.contact >= 0)
    slip = slip[slips.contact[slip] < wheel.size]
    wheel[slips.contact[slip]] = slip
    return wheel[contacts.owner]


@cache
def _no_contacts(dim: int) -> Contacts:
    widths: dict[str, tuple[int, ...]] = dict.fromkeys(("body", "share", "sides", "parts"), (2,))
    widths |= {"node": (2 * VECTORS,), "struck": (6,), "fixed": (VECTORS, dim)}
    kinds = {name: FIELDS[f"contacts_{name}"].kind for name in Contacts._fields} | {"rigid": "bool"}
    fields: Any = (np.zeros((0, *widths.get(name, ())), kind) for name, kind in kinds.items())
    return Contacts(*fields)


def coupled_parts(mechanism: Model) -> Index:
    """Group of each frame and mean of points, numbered by the first frame of the group.

    Joints, springs and bodies couple frames; contacts alone do not.
    """
    count, sizes = len(mechanism.frames), [len(body.frames) for body in mechanism.bodies.values()]
    linked = np.split(np.arange(count), np.cumsum(sizes)[:-1])
    for c in mechanism.connections:
        if c.rows or not c.touches:
            frames = [find_port(p, mechanism.bodies)[0] for p in c.ports if not isinstance(p, Ground)]
            linked.append(np.array(frames, dtype=int))
    one, other = np.concatenate([frames[:-1] for frames in linked]), np.concatenate([frames[1:] for frames in linked])
    graph = sparse.csr_array((np.ones(one.size), (one, other)), shape=(count, count))
    _, label = connected_components(graph, directed=False)
    first: Index = np.unique(label, return_index=True)[1][label]
    return np.append(first, first[[mean.frame for mean in mechanism.network.means]])


def _parts(mechanism: Model, sides: Index) -> Index:
    """Groups of coupled bodies at both sides of each contact and of each joint with dry friction, (c + f, 2).

    ``sides`` (c, 2) are the bodies of contacts. A joint has only the group of its first body, as it couples both, and
    −1 as second entry. Without rigid contacts there are no rows for joints.
    """
    joints = [c.ports for c in mechanism.connections if c.form.bearing is not None]
    if not (sides >= 0).any():
        return sides
    frames = [[find_port(p, mechanism.bodies)[0] for p in ports if not isinstance(p, Ground)] for ports in joints]
    rubbing = np.array([[ports[0], -1] for ports in frames], dtype=int).reshape(-1, 2)
    parts: Index = np.append(mechanism.once(coupled_parts), -1)[np.concatenate([sides, rubbing])]
    return parts


def _sides(mechanism: Model, contacts: Gaps) -> Index:
    """Body or mean of points at each side of the rigid contacts, (c, 2); −1 for none and for compliant contacts.

    Raises ValueError if a rigid contact acts on more than two bodies.
    """
    none, rigid = np.full((contacts.kind.size, 2), -1), np.flatnonzero(contacts.rigid)
    if not mechanism.once(NearPairs).strikes:
        return none
    sides = contact_sides(on_sides(mechanism)._replace(contacts=contacts.take(rigid)))
    if sides is None:
        raise ValueError("a rigid contact must be between two bodies at most: give each of its sides to one body")
    none[rigid] = sides.body.T
    return none


def _struck(accounts: Accounts, contacts: Gaps) -> Index:
    """Columns (c, 6) of the flows for impulses at impacts and for losses of rigid contacts; −1 for other contacts."""
    count, place = accounts.rigid.size, np.searchsorted(accounts.rigid, contacts.owner)
    at_impacts = len(accounts.work) + len(accounts.joint_work) + 2 * accounts.touching
    lost = accounts.flow_count - len(KINDS) * count - accounts.joins
    first = np.concatenate([at_impacts + count * np.arange(len(WAYS)), lost + count * np.arange(len(KINDS))])
    return np.where(contacts.rigid[:, None], first + place[:, None], -1)


def surfaces_of(mechanism: Model) -> list[Surfaces]:
    """Distinct surfaces of all contacts."""
    distinct = {id(surface): surface for surface in mechanism.network.arrays.contacts.shape if surface is not None}
    return list(distinct.values())


def _shapes(mechanism: Model, contacts: Gaps) -> Index:
    """Number of the surface of each contact (c,), −1 for contacts without one."""
    number = {id(surface): k for k, surface in enumerate(mechanism.once(surfaces_of))}
    return np.array([number.get(id(surface), -1) for surface in contacts.shape], dtype=np.int64)


def _surfaces(accounts: Accounts, contacts: Gaps) -> Index:
    """Column of the flows for the work of the moving surface of each contact (c,), −1 for contacts without one."""
    place = accounts.first_surface + np.searchsorted(accounts.carried, contacts.owner)
    return np.where((contacts.speed != 0.0) | (contacts.timed >= 0), place, -1)


def springs_of(mechanism: Model) -> int:
    """Number of entries for springs and anchors of single contacts in a state, which precede the tables of groups."""
    tables = [(1 + mechanism.layout.dim) * group.rows for group in mechanism.network.arrays.contacts.groups]
    return mechanism.layout.springs - sum(tables)


def own_springs(mechanism: Model, m: Memory, springs: Array) -> Array:
    """Convert the spring states and anchor forces of a flat state to the layout of the memory.

    For contacts in groups only the anchors of listed pairs are in the memory.
    """
    if not mechanism.network.arrays.contacts.groups:
        return springs
    single = springs[: springs_of(mechanism)]
    listed = m.contacts_pair > 0
    places = m.contacts_table[listed], m.contacts_rows[listed], m.contacts_pair[listed]
    return np.concatenate([single, in_tables(places, springs, mechanism.layout.dim).ravel()])


def unknowns_of(contacts: Contacts, nodes: Nodes, numbers: tuple[Index, ...]) -> list[Index]:
    """Unknowns that each compliant contact couples, with entries −1 for unknowns that do not exist.

    ``numbers`` are the numbers of the unknowns ṙ̄, ω̄, φ̄u̇̄ and of flexible coordinates. Two faces of a skin may share
    the force of a ball, so that the contact of a ball with the first face couples the unknowns of all faces. Contacts
    of the same rigid bodies have the same array.
    """
    v, w, c, m = numbers
    node = contacts.node[~contacts.rigid]
    is_bent = (np.diff(nodes.ptr) > 0) | (np.diff(nodes.others_ptr) > 0)
    key = np.append(np.where(is_bent, nodes.body.max(initial=0) + 1 + np.arange(is_bent.size), nodes.body), -1)[node]
    key.sort(axis=1)
    key[:, 1:][key[:, 1:] == key[:, :-1]] = -1  # each body once
    _, first, place = np.unique(np.sort(key, axis=1), axis=0, return_index=True, return_inverse=True)
    distinct = [
        np.concatenate(
            [np.zeros(0, dtype=np.int64)]
            + [
                part
                for n in contact_nodes[contact_nodes >= 0]
                for part in (
                    *(of[nodes.body[n]] for of in (v, w, c)),
                    m[nodes.col[nodes.ptr[n] : nodes.ptr[n + 1]]],
                    v[nodes.others[nodes.others_ptr[n] : nodes.others_ptr[n + 1]]].ravel(),
                )
            ]
        )
        for contact_nodes in node[first]
    ]
    unknowns = [distinct[k] for k in place.ravel().tolist()]
    skin = contacts.skin[~contacts.rigid]
    for k in np.unique(skin[skin >= 0]).tolist():
        faces = np.flatnonzero(skin == k).tolist()
        unknowns[faces[0]] = np.unique(np.concatenate([unknowns[face] for face in faces]))
    return unknowns


def loaded_wheels(contacts: Contacts) -> list[tuple[int, int]]:
    """Pairs of a compliant contact and the slip of the wheel that it presses on the ground, both by number."""
    wheels = contacts.wheel[~contacts.rigid].tolist()
    return [(k, slip) for k, slip in enumerate(wheels) if slip >= 0]


def entries_of(contacts: Contacts, nodes: Nodes, dim: int) -> int:
    """Largest number of unknowns on which the vectors of a contact depend.

    Each of them needs a row in the matrices B and W (see terms.nodes).
    """
    widths = np.diff(nodes.ptr).astype(int) + dim * np.diff(nodes.others_ptr).astype(int)
    of_node = np.append(2 * dim + (1 if dim == 2 else 3) + widths, 0)
    return int(of_node[contacts.node].sum(axis=1).max(initial=0))


def touch_space(contacts: Contacts, nodes: Nodes, dim: int, *, connections: int, pile: int) -> TouchSpace:
    """Work space of contacts in a step, all zeros.

    ``connections`` is the number of energies of contacts, ``pile`` the number of unknowns of a pile, else 0.
    """
    c, t, z = contacts.kind.size, dim - 1, np.zeros
    width = dim + (1 if dim == 2 else 3)
    entries = entries_of(contacts, nodes, dim) + 2 * (1 if dim == 2 else 3)
    given: Any = (
        *(z(c) for _ in range(5)),
        *(z((c, VECTORS, dim)), z((c, VECTORS, dim)), z((c, t, dim)), z((c, 2, dim))),
        *(z((c, t)), z((c, t)), z((c, t)), z((c, t, t)), z((c, t)), z((c, t)), z(connections)),
        *(z((VECTORS, dim)), z((VECTORS, dim)), z((2, dim)), z(t), z(t), z(3 + VECTORS)),
        *(z((c, VECTORS)), z(c), z(c), z(entries), z(entries)),
        *(z((2, 6)), z((2, PLACES)), z((7, 6)), z(entries)),
        *(z(entries), z(entries), z((4, entries)), z((t, entries))),
        *(z(nodes.body.size, dtype=np.int64), z((nodes.body.size, dim)), z(3)),
        *((z((2 * c, width, width)), z((5, pile))) if pile else (z((0, 0, 0)), z((0, 0)))),
    )
    return TouchSpace(*given)


def strike_space(
    contacts: Contacts, nodes: Nodes, sizes: tuple[int, int, int, int, int, int], *, strikes: int
) -> StrikeSpace:
    """Work space of rigid contacts at impacts, all zeros.

    ``sizes`` are the numbers of bodies, means of points, dimensions, coordinates, multipliers and bearings. ``strikes``
    is 0 without rigid contacts (empty arrays), 2 if responses of all bodies to impulses may be stored, and else 1.
    """
    (b, means, d, q, g, f), whole = sizes, np.int64
    c, b, k, f = (contacts.kind.size, b, nodes.body.size, f) if strikes else (0, 0, 0, 0)
    sides, e, slips = b + means if strikes else 0, c + f, (d - 1) * f
    n, z = d + (1 if d == 2 else 3), np.zeros
    m, q, g = (min(LARGEST, d * e), q, g) if strikes > 1 else (0, 0, 0)
    given: Any = (
        *(z((2 * c, d, n)), z((2 * c, d, n)), z((2 * c, d, n)), z((b, n, n)), z((n, 2 * n)), z((sides, n))),
        *(z((d, e)), z((d, e)), z((d, e)), z((k, d)), z((k, d)), z((b, d)), z(e)),
        *(z(e, whole), z(c, whole), z(e, whole), z(e, whole), z(e + 1, whole), z(b, whole), z(2 * e, whole)),
        *(z((d * c, q)), z((d * c, q)), z(q), z((m, sides * n + q + g + slips)), z((d, e)), z(g), z(slips)),
        *(z(2), z(c, whole), z(1, whole), z(8)),
    )
    return StrikeSpace(*given)
