"""URDF files of links and joints, some of them drawn at random."""


def text_of(values):
    return " ".join(repr(float(v)) for v in values)


def link(name, mass=None, centre=(0, 0, 0), turn=(0, 0, 0), J=(0, 0, 0), products=(0, 0, 0)):
    """A link; without a mass one without an inertial."""
    if mass is None:
        return f'<link name="{name}"/>'
    entries = zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), (*J, *products), strict=True)
    inertia = " ".join(f'{entry}="{float(value)!r}"' for entry, value in entries)
    place = f'<origin xyz="{text_of(centre)}" rpy="{text_of(turn)}"/>'
    return f'<link name="{name}"><inertial>{place}<mass value="{mass!r}"/><inertia {inertia}/></inertial></link>'


LIMIT = '<limit lower="-3" upper="3" velocity="10" effort="100"/>'
"""Limits of revolute and prismatic joints, which a file must give."""


def joint(name, kind, parent, child, xyz=(0, 0, 0), rpy=(0, 0, 0), axis=(0, 0, 1), more=""):
    needs = kind in ("revolute", "prismatic") and "<limit" not in more
    more += LIMIT if needs else ""
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{text_of(xyz)}" rpy="{text_of(rpy)}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<axis xyz="{text_of(axis)}"/>{more}</joint>'


def file_of(path, *parts, name=' name="r"'):
    path.write_text(f"<robot{name}>{''.join(parts)}</robot>", encoding="utf-8")
    return path


def solid(rng, name, scale=1.0):
    """A link as a body has it: moments from second moments."""
    a, b, c = rng.uniform(0.01, 0.05, 3) * scale
    return link(name, rng.uniform(0.5, 2.0) * scale, rng.normal(0, 0.2, 3), rng.normal(0, 1, 3), (b + c, a + c, a + b))


def moving(rng, name, kind, parent, child, more=""):
    return joint(name, kind, parent, child, rng.normal(0, 0.3, 3), rng.normal(0, 1, 3), 2.0 * rng.normal(0, 1, 3), more)
