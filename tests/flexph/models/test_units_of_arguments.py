"""Python reads quantities as model files do: the same arguments, the same units, the same parser."""

import inspect
import typing

import pytest

import fem
import rigid
from flexph import GROUND, connect, distance, spring_damper, torsion_spring
from flexph.joints import screw
from flexph.models.schema import connections  # noqa: F401  entries are found as subclasses
from flexph.models.schema.entry import Entry
from flexph.models.schema.fields import Reads

OTHER = {  # read by files alone: what they write is made into something else first
    ("cartesian_spring_damper", "axes"),
    ("body_from_modes", "frequencies"),
    ("body_from_modes", "masses_of_nodes"),
    ("_pieces", "times"),
}


def kinds(entry=Entry):
    for own in entry.__subclasses__():
        yield own
        yield from kinds(own)


def unit_of(hint, metadata=()):
    """The units of a field of a file, None where it has none."""
    if typing.get_origin(hint) is typing.Annotated:
        return unit_of(hint.__origin__, hint.__metadata__)
    for own in metadata:
        told = dict(own.schema).get("description", "") if isinstance(own, Reads) else ""
        if told.startswith("["):
            return tuple(part.strip("[]") for part in told.split(" or "))
    return next(filter(None, map(unit_of, typing.get_args(hint))), None)


def arguments():
    for entry in {own.__name__: own for own in kinds()}.values():
        makes = getattr(entry, "makes", None)
        for name, field in entry.model_fields.items() if callable(makes) else ():
            units = unit_of(field.annotation, field.metadata)
            if units and (makes.__name__, name) not in OTHER:
                yield makes, name, units


@pytest.mark.parametrize(
    ("makes", "name", "units"),
    [pytest.param(*own, id=f"{own[0].__name__}-{own[1]}") for own in arguments()],
)
def test_what_files_read_with_a_unit_python_does(makes, name, units):
    called = makes.__init__ if isinstance(makes, type) else makes
    assert called.units[name] in (units, units[0])
    assert name in inspect.signature(makes).parameters


def test_quantities_are_numbers_of_si_units():
    steel = fem.Material(young="210 GPa", density="7.85 g/cm^3")
    assert (steel.young, steel.density) == pytest.approx((210e9, 7850.0), rel=1e-15)
    assert fem.Section(width="12 mm", height=0.5).second_moment == pytest.approx(0.012 * 0.5**3 / 12.0)
    assert rigid.bar("30 cm", "200 g").mass == 0.2
    plate = rigid.box(("1 cm", 0.02, "3 mm"), density="1 g/cm^3", ports={"corner": ("5 mm", 0, 0)})
    assert plate.mass == pytest.approx(1e3 * 0.01 * 0.02 * 0.003)
    assert plate.ports["corner"].position[0] == 0.005
    assert GROUND.at("30 mm", 0) == GROUND.at(0.03, 0.0)
    assert distance("a.b", "c.d", length="3 ft").form.rows[0].law.value == pytest.approx(0.9144)
    spring = spring_damper("a.b", "c.d", stiffness="2 kN/m", damping="5 N*s/m", length="3 cm")
    measure = spring.form.measures[0]
    assert (measure.stiffness, measure.damping, measure.free) == (2000.0, 5.0, 0.03)
    fallen = connect({"bar": rigid.bar(1.0, 1.0)}, [], gravity=(0.0, "-9.81 m/s^2"))
    assert fallen.gravity.tolist() == [0.0, -9.81]
    turned = torsion_spring("a.b", GROUND, stiffness="3 N*m/rad", angle="90 deg").formed(2)
    assert turned.form.measures[0].free == pytest.approx(1.5707963267948966)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: fem.Material(young="210 mm", density=1.0),
            r"young: got '210 mm', which measures a length: write",
        ),
        (lambda: fem.Material(young="210 GPA", density=1.0), r"young: got '210 GPA': 'GPA' is .* unit.* 'GPa'\?"),
        (lambda: fem.Material(young="stiff", density=1.0), r"young must be a number, got 'stiff'"),
        (lambda: fem.Material(young="2e11", density=1.0), r"young must be a number, got '2e11'"),
        (lambda: rigid.box((1.0, "1 kg", 1.0), density=1.0), r"size: got '1 kg', which measures a mass"),
        (lambda: rigid.body(1.0, ports={"a": ("1 s", 0.0)}), r"ports of 'a': got '1 s', which measures a time"),
        (lambda: screw("a.b", GROUND, axis=(0, 0, 1), lead="5 N"), r"lead: got '5 N', which measures a force"),
        (lambda: GROUND.at("3 s", 0.0), r"ground position: got '3 s', which measures a time: write a length"),
    ],
)
def test_wrong_units_are_told(make, told):
    with pytest.raises(ValueError, match=f"^{told}"):
        make()
