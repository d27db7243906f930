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
