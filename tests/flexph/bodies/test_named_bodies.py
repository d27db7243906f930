"""Bodies by name: the numbers of their frames, what cannot be changed, copies."""

import pickle

import pytest

import fem
import rigid
from flexph import connect
from flexph.bodies.ports import find_port, first_frame, frames_of, named

BODIES = {
    "first ball": rigid.point(1.0, 3),
    "rope": fem.cable(1.0, mass_per_length=0.1, axial=1e4, bending=1e-2, elements=3),
    "ball": rigid.point(1.0, 3),
    "other rope": fem.cable(2.0, mass_per_length=0.1, axial=1e4, bending=1e-2, elements=2),
}


def test_ports_are_found_on_the_frames_of_their_bodies():
    """By numbers that are kept, and one frame after the other."""
    frames = list(frames_of(BODIES))
    for bodies in (BODIES, named(BODIES), connect(BODIES, []).bodies):
        for name, body in BODIES.items():
            own = [frame for frame in frames if frame == name or frame.startswith(f"{name}[")]
            assert frames.index(own[0]) == first_frame(name, bodies)
            for port in body.ports:
                index, _ = find_port(f"{name}.{port}", bodies)
                assert frames[index] in own


def test_they_are_a_mapping_that_nobody_changes():
    given = dict(BODIES)
    bodies = connect(given, []).bodies
    given.clear()
    assert dict(bodies) == BODIES
    assert named(bodies) is bodies
    with pytest.raises(TypeError):
        bodies["ball"] = rigid.point(2.0, 3)
    assert repr(bodies) == "<bodies first ball, rope, ball, other rope>"
    copied = pickle.loads(pickle.dumps(bodies))
    assert list(copied.first_frames.items()) == list(bodies.first_frames.items())
