"""Contacts and stops of model files, by the signatures of :mod:`flexph.contacts`."""

from __future__ import annotations

from flexph import contacts as make
from flexph.contacts import laws, shapes

from .entry import one_of
from .fields import Port, by_shape
from .from_signature import entry_of
from .laws import ELASTIC

MADE = {name: getattr(make, name) for name in dir(make)}
SHAPES = tuple(
    entry_of(makes) for makes in MADE.values() if isinstance(makes, type) and issubclass(makes, shapes.Shape)
)
LAWS = tuple(
    entry_of(makes) for makes in MADE.values() if isinstance(makes, type) and issubclass(makes, laws.ContactLaw)
)
Law = one_of(LAWS)
_SHAPE = one_of(SHAPES)
Shape = by_shape("a port, which is a point, or a shape", scalar=Port, mapping=_SHAPE)
Shapes = by_shape("a port, a shape, or a list of them", scalar=Port, mapping=_SHAPE, sequence=list[Shape])
CONTACTS = (
    entry_of(make.contact, first=Shapes, second=Shapes, law=Law),
    entry_of(make.mutual_contact, shapes=list[Shape], law=Law),
    entry_of(make.stop, law=one_of((*LAWS, *ELASTIC))),
)
