"""Reduced bodies in files: read back they move, vibrate and show stresses as before; damaged ones are refused."""

from dataclasses import replace

import h5py
import numpy as np
import pytest

import fem
from flexph import GROUND, connect, eigenfrequencies, integrate, revolute
from flexph.bodies import load_reduced, reduce_body, save_reduced
from flexph.bodies.stresses import stress_points
from flexph.export import stress_envelope
from flexph.results import section_forces
from flexph.results.signature import mechanism_signature

STEEL = fem.Material(young=210e9, density=7850.0, poisson=0.3)


def solid():
    ports = {"end": "left", "tip": fem.Tie("right", "mean")}
    block = fem.solid(
        fem.box_mesh((0.1, 0.02, 0.02), (3, 1, 1)),
        STEEL,
        ports=ports,
        loads={"top": "top"},
        sections={"cut": "right"},
        damping=fem.Damping(stiffness=1e-6, mass=0.1),
    )
    return reduce_body(block, modes=2, static=("tip",))


def beam():
    strip = fem.Section(width=0.02, height=0.01)
    rod = fem.beam(1.0, STEEL, strip, elements=4, strain="von_karman", dim=3, damping=fem.Damping(ratios=(0.01, 0.01)))
    return reduce_body(rod, modes=2, inertia=True)


def plate():
    sheet = fem.box_mesh((1.0, 0.5), (2, 1))
    body = fem.plate(
        sheet, STEEL, thickness=0.01, ports={"end": "left"}, strain="von_karman", sections={"cut": "right"}
    )
    return reduce_body(body, modes=3, derivatives=1)


BODIES = {"solid": (solid, "end"), "beam": (beam, "root"), "plate": (plate, "end")}


@pytest.fixture(params=BODIES, scope="module")
def pair(request, tmp_path_factory):
    """A body, the one that is read from its file, and the name of a port."""
    make, port = BODIES[request.param]
    path = tmp_path_factory.mktemp("bodies") / "body.h5"
    body = make()
    save_reduced(body, path, fields="stresses")
    return body, load_reduced(path), port


def pendulum(body, port, gravity=(0.0, 0.0, -9.81)):
    return connect({"bar": body}, [revolute(f"bar.{port}", GROUND, axis=(0.0, 1.0, 0.0))], gravity=gravity)


def fall(mechanism):
    start = mechanism.consistent_state(mechanism.assemble({"bar": np.eye(3)}))
    return integrate(mechanism, start, np.linspace(0.0, 0.01, 5), progress=False)


def undamped(body):
    return replace(body, elasticity=replace(body.elasticity, mass_damping=0.0, stiffness_damping=0.0, viscous=None))


def test_a_body_read_moves_and_vibrates_as_the_one_saved(pair):
    body, again, port = pair
    own, read = (pendulum(b, port) for b in (body, again))
    assert mechanism_signature(read) == mechanism_signature(own)  # runs that are saved belong to both
    at_rest = (pendulum(undamped(b), port, gravity=None) for b in (body, again))
    frequencies = [eigenfrequencies(m.linearize(m.assemble({"bar": np.eye(3)})), 3) for m in at_rest]
    np.testing.assert_allclose(*frequencies, rtol=1e-12)
    one, other = fall(own), fall(read)
    size = np.abs(one.states).max(axis=0)
    assert np.all(np.abs(other.states - one.states) <= 1e-12 * size)
    if body.sections:
        forces = [section_forces(run, "bar.cut").force for run in (one, other)]
        np.testing.assert_allclose(*forces, atol=1e-12 * np.abs(forces[0]).max())
    assert list(again.loads) == list(body.loads) and again.momenta == body.momenta
    if stress_points(body):  # singles have 7 digits
        peaks = [stress_envelope(run, "bar").peak_von_mises for run in (one, other)]
        assert peaks[0].max() > 0.0
        np.testing.assert_allclose(*peaks, atol=1e-5 * peaks[0].max())


def test_what_was_not_kept_is_refused_in_words(tmp_path):
    body = solid()
    sizes = []
    for fields, words in (("stresses", None), ("shape", "has no stress tensor"), ("none", "has no stress tensor")):
        save_reduced(body, tmp_path / "body.h5", fields=fields)
        sizes.append((tmp_path / "body.h5").stat().st_size)
        read = load_reduced(tmp_path / "body.h5")
        assert (read.view is None) == (fields == "none")
        if words:
            with pytest.raises(ValueError, match=words):
                stress_envelope(fall(pendulum(read, "end")), "bar")
    assert sizes[0] > sizes[1] > sizes[2]


def test_bodies_that_are_not_reduced_are_refused(tmp_path):
    block = fem.solid(fem.box_mesh((0.1, 0.02, 0.02), (1, 1, 1)), STEEL, ports={"end": "left"}, reference="end")
    with pytest.raises(ValueError, match=r"must be reduced, by flexph\.bodies\.reduce_body"):
        save_reduced(block, tmp_path / "body.h5")
    assert not list(tmp_path.iterdir())
    rigid = reduce_body(block, modes=0)
    save_reduced(rigid, tmp_path / "body.h5")
    assert load_reduced(tmp_path / "body.h5").mass == rigid.mass


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "body.h5"
    save_reduced(solid(), path, fields="stresses")
    return path.read_bytes()


def datasets(path):
    names = []
    with h5py.File(path) as file:
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) and item.size else None)
    return names


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 24))])
def test_numbers_that_are_none_are_refused_wherever_they_are(part, sound, tmp_path):
    path = tmp_path / "body.h5"
    path.write_bytes(sound)
    for name in datasets(path)[part::24]:
        path.write_bytes(sound)
        with h5py.File(path, "r+") as file:
            file[name][...] = np.nan
        with pytest.raises(ValueError, match=r"cannot be read from .*body\.h5"):
            load_reduced(path)


WRONG = {
    "view/0/cells": (lambda values: values + 100.0, "cells must contain integers"),
    "view/0/tensors/stress/material": (lambda values: values + 0.5, "material must contain integers"),
    "view/0/tensors/stress/cell": (lambda values: values[::-1], "cell does not ascend"),
    "ports/end/shape/entries": (lambda values: values[:-1], "make no matrix of 3 x"),
    "ports/end/shape/starts": (lambda values: values * 0.0, "make no matrix of 3 x"),
    "ports/end/shape/columns": (lambda values: values + 100.0, "must contain integers"),
    "ports/tip/position": (lambda values: values[:2], "'tip' has shape .*expected"),
    "elasticity/0/mass_damping": (lambda values: -values, "mass_damping"),
    "inertia/mass": (lambda values: -values, "mass must be positive"),
    "turns": (lambda values: values + 1.0, "must contain integers from 0 to 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_values_that_do_not_fit_are_refused(name, sound, tmp_path):
    change, words = WRONG[name]
    path = tmp_path / "body.h5"
    path.write_bytes(sound)
    with h5py.File(path, "r+") as file:
        values = change(file[name][()])
        del file[name]
        file.create_dataset(name, data=values)
    with pytest.raises(ValueError, match=words):
        load_reduced(path)


def test_bodies_that_are_too_large_are_refused_before_their_matrices_are_read(sound, tmp_path, monkeypatch):
    path = tmp_path / "body.h5"
    path.write_bytes(sound)
    monkeypatch.setattr("flexph.bodies.reduced_file.LARGEST", 4)
    with pytest.raises(ValueError, match=r"shape_first has shape \(3, 8\), expected a matrix of at most 4"):
        load_reduced(path)


def test_a_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        load_reduced(tmp_path / "body.h5")
    (tmp_path / "body.h5").write_text("rod")
    with pytest.raises(ValueError, match="it is not an HDF5 file"):
        load_reduced(tmp_path / "body.h5")
    with h5py.File(tmp_path / "other.h5", "w", libver="v110") as file:
        file.attrs["format"] = np.bytes_("flexph solution 5")
    with pytest.raises(ValueError, match="format is 'flexph solution 5', expected 'flexph reduced body 1'"):
        load_reduced(tmp_path / "other.h5")
