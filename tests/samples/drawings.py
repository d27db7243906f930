"""Drawings that tests make by the kernel of gmsh."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

INCH = """( CONVERSION_BASED_UNIT('INCH',#900001) LENGTH_UNIT() NAMED_UNIT(#900002) );
#900001 = LENGTH_MEASURE_WITH_UNIT(LENGTH_MEASURE(25.4),#900003);
#900002 = DIMENSIONAL_EXPONENTS(1.,0.,0.,0.,0.,0.,0.);
#900003 = ( LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.MILLI.,.METRE.) );"""
MILLIMETRE = "( LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.MILLI.,.METRE.) );"
METRE = "( LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT($,.METRE.) );"


class Sheet:
    """A drawing under way: solids in millimetres, written as STEP with the names of its parts."""

    def __init__(self):
        try:
            import gmsh
        except (ImportError, OSError) as error:  # the package, or libraries of the system
            pytest.skip(f"gmsh is missing: {error}")
        self.gmsh, self.names = gmsh, []
        gmsh.initialize(readConfigFiles=False, interruptible=False)
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.add("sheet")
        self.kernel = gmsh.model.occ

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.gmsh.finalize()

    def box(self, low, high):
        return [(3, self.kernel.addBox(*low, *np.subtract(high, low)))]

    def cylinder(self, start, along, radius):
        return [(3, self.kernel.addCylinder(*start, *along, radius))]

    def ball(self, centre, radius):
        return [(3, self.kernel.addSphere(*centre, radius))]

    def joined(self, *solids):
        return self.kernel.fuse(solids[0], [s for other in solids[1:] for s in other])[0]

    def without(self, solid, *others):
        return self.kernel.cut(solid, [s for other in others for s in other])[0]

    def moved(self, solid, rotation, by):
        """The solid turned about the origin, then displaced."""
        vector = Rotation.from_matrix(rotation).as_rotvec()
        if angle := np.linalg.norm(vector):
            self.kernel.rotate(solid, 0, 0, 0, *(vector / angle), angle)
        self.kernel.translate(solid, *by)
        return solid

    def named(self, name, solid):
        self.names.append((solid[0][1], name))
        return solid

    def write(self, path):
        """Write all solids; in STEP the parts get their names in the order of their numbers."""
        self.kernel.synchronize()
        self.gmsh.write(str(path))
        if self.names:
            names = iter([name for _, name in sorted(self.names)])
            text, several = path.read_text(), len(self.names) > 1
            seen = iter(range(1000))

            def rename(match):
                return match[0] if several and next(seen) == 0 else f"PRODUCT('{(name := next(names))}','{name}'"

            path.write_text(re.sub(r"PRODUCT\('[^']*',\s*'[^']*'", rename, text))
        return path

    def properties(self, solid):
        """Volume, centre and inertia about it by the kernel, in millimetres."""
        self.kernel.synchronize()
        tag = solid[0][1]
        inertia = np.reshape(self.kernel.getMatrixOfInertia(3, tag), (3, 3))
        return self.kernel.getMass(3, tag), np.array(self.kernel.getCenterOfMass(3, tag)), inertia


def link(sheet, start, end, *, low, high, radius, bores=()):
    """A link in the x-y plane between two round ends, from z = low to high, with bores (end, radius)."""
    start, end = np.array(start), np.array(end)
    along = end - start
    length, angle = np.hypot(*along), np.arctan2(along[1], along[0])
    bar = sheet.box((0, -radius, low), (length, radius, high))
    sheet.kernel.rotate(bar, 0, 0, 0, 0, 0, 1, angle)
    sheet.kernel.translate(bar, *start, 0)
    eyes = [sheet.cylinder((*at, low), (0, 0, high - low), radius) for at in (start, end)]
    solid = sheet.joined(bar, *eyes)
    holes = [sheet.cylinder((*at, low - 1), (0, 0, high - low + 2), r) for at, r in bores]
    return sheet.without(solid, *holes) if holes else solid


def wheel(sheet, at, *, teeth, module, low, high, phase=0.0, internal=False):
    """A wheel with straight flanks about z at a place of the x-y plane; ``internal``: its counterpart to be cut out.

    A tooth points along x for the phase zero, turned by ``phase`` pitches. Teeth are thinner than gaps, so that wheels
    do not overlap.
    """
    pitch, middle = 2.0 * np.pi / teeth, 0.5 * module * teeth
    inner, outer = (middle - module, middle + 1.25 * module) if internal else (middle - 1.25 * module, middle + module)
    foot, head = (0.37, 0.2) if internal else (0.28, 0.1)  # half of the widths, in pitches
    kernel = sheet.kernel
    centre = kernel.addPoint(*at, low)

    def point(radius, angle):
        return kernel.addPoint(at[0] + radius * np.cos(angle), at[1] + radius * np.sin(angle), low)

    ends = []
    for k in range(teeth):
        corners = [(inner, -foot), (outer, -head), (outer, head), (inner, foot)]
        ends += [point(radius, pitch * (k + phase + side)) for radius, side in corners]
    sides = []
    for k, (one, two) in enumerate(zip(ends, [*ends[1:], ends[0]], strict=True)):
        sides.append(kernel.addLine(one, two) if k % 2 == 0 else kernel.addCircleArc(one, centre, two))
    face = kernel.addPlaneSurface([kernel.addCurveLoop(sides)])
    kernel.remove([(0, centre)])
    return [entity for entity in kernel.extrude([(2, face)], 0, 0, high - low) if entity[0] == 3]
