"""Natural frequencies of the four-bar over 73 crank angles, eight elements a link: beside Exudyn and dense frames.

Process time with building, and without it on either side. Exudyn's links are ANCF cables, whose frequencies differ by
their axial shapes; dense displacement frames solve for their whole spectrum at each angle. One thread:
OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "samples"))

from displacement_frames import SI, four_bar_frequencies

from cases import four_bar
from flexph import Mechanism, eigenfrequencies

ANGLES = np.radians(np.arange(0.0, 361.0, 5.0))
ELEMENTS, COUNT = 8, 3
DATA = four_bar.DATA["si"]
REPEATS = 7


def best(function: Callable[[], object]) -> float:
    """Shortest of a few process times [s]: what the machine can do when nothing disturbs it."""
    times = []
    for _ in range(REPEATS):
        clock = time.process_time()
        function()
        times.append(time.process_time() - clock)
    return min(times)


def studied(mechanism: Mechanism) -> np.ndarray:
    """Our frequencies, (73, 3) [rad/s]."""
    return mechanism.eigenfrequencies(four_bar.poses_at(mechanism, DATA, ANGLES), COUNT)


def one_by_one(mechanism: Mechanism) -> np.ndarray:
    """Those of the linear system at each angle by itself."""
    poses = four_bar.poses_at(mechanism, DATA, ANGLES)
    return np.array([eigenfrequencies(mechanism.linearize(pose), COUNT) for pose in poses])


def frames() -> np.ndarray:
    """Dense frame elements, whole spectrum at each angle."""
    return np.array([four_bar_frequencies(float(angle), ELEMENTS, SI) for angle in ANGLES])


class Exudyn:
    """The four-bar of ANCF cables at each angle, in one container."""

    def __init__(self) -> None:
        import exudyn

        self.container = exudyn.SystemContainer()
        self.systems = [self.system(float(angle)) for angle in ANGLES]

    def system(self, angle: float) -> Any:
        """The mechanism assembled at one crank angle."""
        from exudyn import itemInterface as items

        mbs, places = self.container.AddSystem(), joints_at(angle)
        ground = mbs.AddObject(items.ObjectGround())
        ends = [self.link(mbs, places[i], places[i + 1], i) for i in range(3)]
        fixed = mbs.AddNode(items.NodePointGround())
        still = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=fixed, coordinate=0))
        for coordinate in range(4):
            clamped = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ends[0][0], coordinate=coordinate))
            mbs.AddObject(items.CoordinateConstraint(markerNumbers=[still, clamped]))
        markers = [[mbs.AddMarker(items.MarkerNodePosition(nodeNumber=node)) for node in own] for own in ends]
        end = mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=ground, localPosition=[*places[3], 0.0]))
        for i in (1, 2):
            pin = mbs.AddNode(items.NodePoint2D(referenceCoordinates=[*places[i]]))
            mbs.AddObject(items.MassPoint2D(mass=DATA.pin_mass, nodeNumber=pin))
            marker = mbs.AddMarker(items.MarkerNodePosition(nodeNumber=pin))
            for other in (markers[i - 1][1], markers[i][0]):
                mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[marker, other]))
        mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[markers[2][1], end]))
        mbs.Assemble()
        return mbs

    def link(self, mbs: Any, start: np.ndarray, end: np.ndarray, number: int) -> tuple[int, int]:
        """A straight link of equal cables; its first and last node."""
        from exudyn import itemInterface as items

        length = DATA.lengths[1 + number]
        along = (end - start) / length
        nodes = [
            mbs.AddNode(items.NodePoint2DSlope1(referenceCoordinates=[*(start + t * (end - start)), *along]))
            for t in np.linspace(0.0, 1.0, ELEMENTS + 1)
        ]
        for pair in itertools.pairwise(nodes):
            cable = items.ObjectANCFCable2D(
                length=length / ELEMENTS,
                massPerLength=DATA.density * DATA.areas[number],
                bendingStiffness=DATA.young * DATA.second_moments[number],
                axialStiffness=DATA.young * DATA.areas[number],
                nodeNumbers=list(pair),
            )
            mbs.AddObject(cable)
        return nodes[0], nodes[-1]

    def frequencies(self) -> np.ndarray:
        """Frequencies, (73, 3) [rad/s]."""
        from exudyn.solver import ComputeODE2Eigenvalues

        squares = [np.sort(ComputeODE2Eigenvalues(mbs, autoAssemble=False)[0])[:COUNT] for mbs in self.systems]
        return np.sqrt(squares)


def joints_at(angle: float) -> np.ndarray:
    """Places of the four joints, (4, 2) [m]."""
    ground, l1, l2, l3 = DATA.lengths
    pin, last = l1 * np.array([math.cos(angle), math.sin(angle)]), np.array([ground, 0.0])
    reach = math.hypot(*(last - pin))
    turn = math.atan2(*(last - pin)[::-1]) + math.acos((l2**2 + reach**2 - l3**2) / (2.0 * l2 * reach))
    return np.array([np.zeros(2), pin, pin + l2 * np.array([math.cos(turn), math.sin(turn)]), last])


def main() -> None:
    """Print times and ratios."""
    mechanism = four_bar.four_bar(DATA, ELEMENTS)
    ours = studied(mechanism)
    print(f"{len(ANGLES)} angles, {ELEMENTS} elements a link, the lowest {COUNT} frequencies; process time [ms]")
    print(f"largest relative difference to linear systems: {np.abs(ours / one_by_one(mechanism) - 1.0).max():.1e}")
    print(f"largest relative difference to dense frames: {np.abs(ours / frames() - 1.0).max():.1e}")
    whole = best(lambda: studied(four_bar.four_bar(DATA, ELEMENTS)))
    alone = best(lambda: studied(mechanism))
    dense = best(frames)
    print(f"flexph, with building    {1e3 * whole:7.1f}")
    print(f"flexph, without building {1e3 * alone:7.1f}")
    print(f"dense frames             {1e3 * dense:7.1f}")
    print(f"ratio four-bar-over-frames {dense / whole:.2f}")
    if find_spec("exudyn") is None:
        print("Exudyn is not installed: pip install exudyn")
        return
    peer = Exudyn()
    theirs = peer.frequencies()
    print(f"largest relative difference to Exudyn's cables: {np.abs(ours / theirs - 1.0).max():.1e}")
    built, solved = best(lambda: Exudyn().frequencies()), best(peer.frequencies)
    print(f"Exudyn, with building    {1e3 * built:7.1f}")
    print(f"Exudyn, without building {1e3 * solved:7.1f}")
    print(f"ratio four-bar-over-exudyn {built / whole:.2f}")
    print(f"ratio four-bar-over-exudyn-without-building {solved / alone:.2f}")


if __name__ == "__main__":
    main()
