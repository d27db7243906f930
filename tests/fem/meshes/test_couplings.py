"""Couplings of decks as ports: rigid and mean, at their reference points, by every keyword that makes them."""

import numpy as np
import pytest
from decks_of import deck, root
from solid_meshes import box

import fem
from fem.mesh_report import mesh_report
from flexph import eigenfrequencies
from flexph.bodies import linear_body
from flexph.numerics.rotations import rigid_motions

BAR = (0.4, 0.2, 0.1)
MESH = box("hexahedron", (2, 1, 1), BAR)
AT = (-0.1, 0.05, 0.2)
TIP = ", ".join(str(1 + n) for n in np.flatnonzero(MESH.points[:, 0] == BAR[0]))
ROOT = ", ".join(map(str, root(MESH)))
NODE = f"*Node\n99, {', '.join(map(str, AT))}\n*Nset, nset=RP\n99\n*Nset, nset=TIP\n{TIP}\n"
SURFACE = "*Surface, name=FACE\n1, S6\n"
INP = {
    "kinematic": (
        SURFACE + "*Coupling, constraint name=C, ref node=RP, surface=FACE\n*Kinematic\n1, 3\n",
        "C",
        "rigid",
    ),
    "all": (SURFACE + "*Coupling, constraint name=C, ref node=99, surface=FACE\n*Kinematic\n", "C", "rigid"),
    "distributing": (SURFACE + "*Coupling, constraint name=C, ref node=99, surface=FACE\n*Distributing\n", "C", "mean"),
    "old": ("*Kinematic Coupling, ref node=99\nROOT, 1, 6\n", "KINEMATIC COUPLING 99", "rigid"),
    "rigid": ("*Rigid Body, nset=ROOT, ref node=99\n", "RIGID BODY 99", "rigid"),
    "beam": ("*MPC\nBEAM, ROOT, 99\n", "MPC 99", "rigid"),
    "weights": (
        "*Element, type=DCOUP3D, elset=D\n90, 99\n*Distributing Coupling, elset=D\nROOT, 1.\n",
        *("DISTRIBUTING COUPLING 99", "mean"),
    ),
}
CARDS = {
    "RBE2": (f"RBE2,7,99,123456,{ROOT.replace(', ', ',')}\n", "RBE2 7", "rigid"),
    "RBE3": (
        f"RBE3,8,,99,123456,1.,123,{','.join(ROOT.split(', ')[:2])}\n,{','.join(ROOT.split(', ')[2:])}\n",
        "RBE3 8",
        "mean",
    ),
}
CARDS["RBE3 of translations"] = (CARDS["RBE3"][0].replace("123456", "123"), *CARDS["RBE3"][1:])


def written(path, form, lines):
    text = deck(form, MESH)
    if form == "inp":
        text += NODE + lines
    else:
        text = text.replace("PSOLID", f"GRID,99,,{','.join(map(str, AT))}\n{lines}PSOLID")
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", [*INP, *CARDS])
def test_a_coupling_is_a_port(name, tmp_path):
    """At its reference point, with the frequencies of a tie of the same nodes."""
    lines, label, how = {**INP, **CARDS}[name]
    form = "inp" if name in INP else "bdf"
    path = written(tmp_path / f"deck.{form}", form, lines)
    nodes = np.flatnonzero(MESH.points[:, 0] == 0.0).tolist()
    region = "FACE" if "FACE" in lines else nodes
    tip = {"tip": fem.Tie("TIP", "rigid")} if form == "inp" else {}
    body = fem.solid(path, ports={"hub": label, **tip}, reference="hub")
    omit = ("COUPLING", "KINEMATIC COUPLING", "RIGID BODY", "MPC", "RBE2", "DISTRIBUTING COUPLING", "DCOUP3D", "RBE3")
    weights = [1.0] * len(nodes) if name == "weights" or "RBE3" in name else None
    twin = fem.solid(path, ports={"hub": fem.Tie(region, how, AT, weights), **tip}, reference="hub", omit=omit)
    np.testing.assert_allclose(body.ports["hub"].position, AT)
    found, expected = (linear_body(b, "b") for b in (body, twin))
    np.testing.assert_allclose(eigenfrequencies(found, 4), eigenfrequencies(expected, 4), rtol=1e-9)
    moved = fem.solid(path, ports={"hub": fem.Tie(label, at=(0.0, 0.0, 0.0))}, reference="hub")
    np.testing.assert_allclose(moved.ports["hub"].position, 0.0)
    if how == "rigid":
        with pytest.raises(ValueError, match=rf"('FACE'|'ROOT'|{label!r}) is rigid.*or use them as ports"):
            fem.solid(path)
    else:
        fem.solid(path)  # a mean is no stiffness


@pytest.mark.parametrize("form", ["inp", "bdf"])
def test_unequal_weights_share_a_force(form, tmp_path):
    """A force at the weighted centre pulls at each node by its weight; rigid motions are those of the port."""
    nodes = np.flatnonzero(MESH.points[:, 0] == 0.0)
    weights, (one, two, three, four) = np.array([1.0, 1.0, 3.0, 2.0]), nodes + 1
    place = weights @ MESH.points[nodes] / weights.sum()
    lines = f"RBE3,8,,99,123456,1.,123,{one},{two}\n,3.,123,{three},2.,123,{four}\n"
    label = "RBE3 8"
    if form == "inp":
        lines = "*Element, type=DCOUP3D, elset=D\n90, 99\n*Distributing Coupling, elset=D\n"
        lines += f"{one}, 1.\n{two}, 1.\n{three}, 3.\n{four}, 2.\n"
        label = "DISTRIBUTING COUPLING 99"
    path = written(tmp_path / f"deck.{form}", form, lines)
    path.write_text(path.read_text().replace(", ".join(map(str, AT)), ", ".join(f"{x:.12f}" for x in place)))
    path.write_text(path.read_text().replace(",".join(map(str, AT)), ",".join(f"{x:.6f}" for x in place)))
    body = fem.solid(path, ports={"hub": label})
    rows = body.view.mesh.ports["hub"].rows.toarray()
    pull = (rows[:3].T @ [0.0, 0.0, 7.0]).reshape(-1, 3)
    expected = np.zeros_like(pull)
    expected[nodes, 2] = 7.0 * weights / weights.sum()
    np.testing.assert_allclose(pull, expected, atol=1e-4)  # five digits of the card
    lever = body.view.points - body.ports["hub"].position
    np.testing.assert_allclose(rows @ rigid_motions(lever).reshape(lever.size, 6), np.eye(6), atol=1e-12)
    turned = [2, 0, 3, 1]  # weights go with their nodes, in any order
    tie = fem.Tie(nodes[turned].tolist(), "mean", place, weights[turned])
    own = fem.solid(path, ports={"hub": tie}, omit=("RBE3", "DISTRIBUTING COUPLING", "DCOUP3D"))
    np.testing.assert_allclose(own.view.mesh.ports["hub"].rows.toarray(), rows, atol=1e-4)
    with pytest.raises(ValueError, match="port 'hub' must have each node once"):
        fem.solid(path, ports={"hub": fem.Tie([*nodes.tolist(), nodes[0]], "mean", None, [1.0] * 5)})
    with pytest.raises(ValueError, match="weights must be one for each of the 4 nodes"):
        fem.solid(path, ports={"hub": fem.Tie(nodes.tolist(), "mean", None, [1.0, 2.0])})
    with pytest.raises(ValueError, match="weights must be positive, and of a tie with how='mean'"):
        fem.Tie("left", "rigid", None, [1.0, 2.0])


LOST = {
    "components": (
        SURFACE + "*Coupling, constraint name=C, ref node=99, surface=FACE\n*Kinematic\n2, 3\n",
        "not all transl",
    ),
    "weights": (
        SURFACE + "*Coupling, constraint name=C, ref node=99, surface=FACE\n*Distributing, weighting method=LINEAR\n",
        "WEIGHTING METHOD=LINEAR",
    ),
    "body": ("*Kinematic Coupling, ref node=1\nTIP, 1, 3\n", "its reference point is a node of the body"),
    "beyond": ("*Rigid Body, nset=RP, ref node=99\n", "it reaches beyond the body"),
    "slider": ("*MPC\nSLIDER, 1, 2, 3\n", r"MPC \(line \d+\)"),
}


@pytest.mark.parametrize("name", LOST)
def test_what_is_no_port_is_refused(name, tmp_path):
    lines, why = LOST[name]
    with pytest.raises(ValueError, match=rf"supported parts only, got .*{why}"):
        fem.solid(written(tmp_path / "deck.inp", "inp", lines))


CARDS_LOST = {
    "components": ("RBE2,7,99,12,1,2,3\n", r"RBE2 \(line \d+: components 12\)"),
    "weights": ("RBE3,8,,99,123456,1.,123,1,2\n,3,-2.,123,4\n", "weights are not positive"),
    "three": ("RBE3,8,,99,12,1.,123,1,2\n,3\n", "components 12 of its reference point"),
    "lost": ("RBE2,7,99,123,1,2,77\n", "grid points that are not in the file"),
}


@pytest.mark.parametrize("name", CARDS_LOST)
def test_cards_that_are_no_ports_are_refused(name, tmp_path):
    lines, why = CARDS_LOST[name]
    with pytest.raises(ValueError, match=why):
        fem.solid(written(tmp_path / "deck.bdf", "bdf", lines))


def test_reports_name_the_ports(tmp_path):
    lines, *_ = INP["kinematic"]
    with pytest.warns(UserWarning, match="left out here"):
        notes = mesh_report(written(tmp_path / "deck.inp", "inp", lines)).notes
    assert any("port 'C' (COUPLING, line" in note and "rigid, 4 nodes, at (-0.1, 0.05, 0.2)" in note for note in notes)


def test_a_mass_at_a_reference_point_is_not_lost(tmp_path):
    """Neither without the port nor with it: it is of the body."""
    lines = INP["kinematic"][0] + "*Element, type=MASS, elset=M\n90, 99\n*Mass, elset=M\n5.\n"
    path = written(tmp_path / "deck.inp", "inp", lines)
    with pytest.raises(ValueError, match=r"got MASS \(line \d+: mass 5 at node 99"):
        fem.solid(path, ports={"hub": "C"})
    with pytest.raises(ValueError, match=r"got MASS \(line \d+: mass 5 at node 99"):
        fem.solid(path, ports={"hub": "C"}, select="ALL")
