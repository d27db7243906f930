"""Mistakes in model files: what is replaced in an example, the line that the error names, and words of the error."""

from typing import NamedTuple


class Mistake(NamedTuple):
    """A text of an example and what stands there instead; the line of the error counted from its begin."""

    of: str
    instead: str
    words: tuple[str, ...]
    below: int = 0
    like: str = "crank-slider"


CRANK = "{kind: bar, length: 150 mm, mass: 0.1 kg}"
STEEL = "{young: 200 GPa, density: 7870 kg/m^3}"
LAST = "{kind: slider, port: slider.point"

MISTAKES = {
    # the text
    "tab": Mistake("    kind: beam", "\tkind: beam", ("tabs", "spaces")),
    "brackets": Mistake(STEEL, STEEL[:-1], ("brackets", "no end", "line 15")),
    "quotes": Mistake("description: rot", "description: 'rot", ("no end", "second quote")),
    "colon": Mistake("description: rotating", "description: a: rotating", ("quotes",)),
    "columns": Mistake("    length: 300 mm", "   length: 300 mm", ("same column",)),
    "twice": Mistake("    elements: 8", "    elements: 8\n    elements: 9", ("given twice", "line 25"), 1),
    "tag": Mistake("elements: 8", "elements: !!python/name:os.system 8", ("tags", "without")),
    "merge": Mistake("  slider: {kind", "  <<: {kind", ("write entries out",)),
    "alias": Mistake("angle: 150*t", "angle: *t", ("undefined alias", "quotes")),
    "itself": Mistake(
        "  slider: {kind: point, mass: 33 g}", "  slider: &s {kind: point, mass: *s}", ("contains itself",)
    ),
    "documents": Mistake("start:\n", "---\nstart:\n", ("one file holds one model",)),
    "half a letter": Mistake("description: rotating", 'description: "\\ud800" #', ("half a letter",)),
    "half a letter in a name": Mistake("  round: {", '  "\\ud800": {', ("half a letter",)),
    "infinite": Mistake("mass: 33 g", "mass: .inf", ("finite",)),
    "times that go back": Mistake(
        "  two_turns:\n    end: 83.7758 ms", "  two_turns:\n    end: -1 s", ("end must come after the start", "-1 s")
    ),
    # names
    "a file of the run": Mistake("middle.csv:", "Solution.h5:", ("every run writes itself", "another name")),
    "section": Mistake("materials:", "material:", ("did you mean 'materials'",)),
    "setting": Mistake("length: 300 mm", "lenght: 300 mm", ("did you mean 'length'",)),
    "kind": Mistake("kind: beam", "kind: beem", ("did you mean 'beam'",)),
    "joint": Mistake("kind: hinge, first: crank.tip", "kind: hing, first: crank.tip", ("did you mean 'hinge'",)),
    "no kind": Mistake("{kind: point, mass: 33 g}", "{mass: 33 g}", ("missing", "'point'")),
    "material": Mistake("material: steel", "material: steal", ("did you mean 'steel'",)),
    "body": Mistake("first: crank.tip", "first: crunk.tip", ("no body 'crunk'", "did you mean 'crank'")),
    "port": Mistake("first: rod.tip", "first: rod.tpi", ("no port 'tpi'", "did you mean 'tip'")),
    "port of two words": Mistake("first: rod.tip", "first: rod", ("'body.port'",)),
    "choice": Mistake("reference: simply_supported", "reference: simply", ("did you mean 'simply_supported'",)),
    "start of a body": Mistake("fixed: {crank:", "fixed: {cronk:", ("no body 'cronk'", "did you mean 'crank'")),
    "method": Mistake("    steps: 800", "    steps: 800\n    method: {name: exakt}", ("did you mean 'exact'",), 1),
    "option": Mistake("    steps: 800", "    steps: 800\n    method: {name: exact, radius: 0.5}", ("radius",), 1),
    "reading": Mistake("position of slider.point", "spot of slider.point", ("'position of'",)),
    "port of a table": Mistake(
        "deflection [m]: displacement of rod.middle",
        "deflection [m]: displacement of rod.mid",
        ("did you mean 'middle'",),
    ),
    "run of a study": Mistake("run: two_turns", "run: two_turn", ("did you mean 'two_turns'",)),
    "setting of a study": Mistake(
        "vary: {bodies.rod.elements", "vary: {bodies.rod.element", ("did you mean 'elements'",)
    ),
    "name of a run": Mistake("  two_turns:\n", "  two turns/..:\n", ("letters, digits",)),
    "input": Mistake("      push: [0", "      pull: [0", ("did you mean 'push'",), 0, "solid-bar"),
    "region": Mistake("hinge: fixed", "hinge: fixt", ("'fixed'",), 0, "solid-bar"),
    "mesh file": Mistake("mesh: bar.msh", "mesh: bra.msh", ("did you mean 'bar.msh'",), 0, "solid-bar"),
    # values
    "unit": Mistake("length: 300 mm", "length: 300 kg", ("a mass", "'30 mm'")),
    "unknown unit": Mistake("length: 300 mm", "length: 300 mmm", ("did you mean 'mm'",)),
    "frequency": Mistake("angle: 150*t", "angle: 20 Hz", ("'30 deg'",)),
    "text": Mistake("mass: 33 g", "mass: heavy", ("'33 g'",)),
    "truth": Mistake("turning: true", "turning: yes", ("true or false",)),
    "whole": Mistake("elements: 8", "elements: 8.5", ("whole number",)),
    "count": Mistake("elements: 8", "elements: 0", ("at least 1",)),
    "nothing": Mistake("length: 300 mm", "length:", ("nothing", "'30 mm'")),
    "list": Mistake("direction: [1, 0]", "direction: 1", ("list",)),
    "mapping": Mistake(f"crank: {CRANK}", "crank: 7", ("mapping",)),
    "missing": Mistake("material: steel\n    section: round", "material: steel", ("section", "missing"), -3),
    "negative": Mistake("length: 300 mm", "length: -300 mm", ("positive",)),
    "station": Mistake("{middle: 150 mm}", "{middle: 450 mm}", ("between 0 and the length",)),
    "ground": Mistake("reference: ground", "reference: graund", ("ground",)),
    "no steps": Mistake("    steps: 800\n", "", ("steps", "list of times"), -2),
    "loop": Mistake("rail: {ground: [0, 0]}", "rail: {ground: [0, 900 mm]}", ("open",), 2),
    "dimension": Mistake("second: {ground: [0, 0]}", "second: {ground: [0, 0, 0]}", ("3 coordinates", "write 2")),
    "axis": Mistake("second: rod.root}", "second: rod.root, axis: [0, 0, 1]}", ("no axis in the plane",)),
    # formulas and files
    "formula": Mistake("angle: 150*t", "angle: 150*(t", ("no expression",)),
    "name in a formula": Mistake("angle: 150*t", "angle: 150*T", ("no name 'T'",)),
    "function": Mistake("angle: 150*t", "angle: sinn(t)", ("did you mean 'sin'",)),
    "code": Mistake("angle: 150*t", "angle: __import__('os').system('true')", ("not allowed",)),
    "trust": Mistake("angle: 150*t", "angle: {function: os:system}", ("--trust",)),
    "table": Mistake("angle: 150*t", "angle: {table: motion.csv, value: a}", ("no file 'motion.csv'",)),
    "absolute": Mistake("mesh: bar.msh", "mesh: /etc/passwd", ("relative to the model file",), 0, "solid-bar"),
    "elsewhere": Mistake("mesh: bar.msh", "mesh: ../bar.msh", ("leads out of the folder",), 0, "solid-bar"),
    "outside": Mistake("middle.csv:", "../middle.csv:", ("stay in their folder",)),
    "series": Mistake("series: bar.vtkhdf", "series: bar.vtk", (".vtkhdf, .pvd, .xdmf",), 0, "solid-bar"),
    "component": Mistake("component: 1", "component: -1", ("at least 0",)),
    "no such component": Mistake("component: 1", "component: 7", ("got 7", "components 0 to 1")),
    "length for an angle": Mistake("[0, 0, 0 deg]", "[0, 0, 0 m]", ("fixed.crank[2]", "a length", "'30 deg'")),
    "no value": Mistake("angle: 150*t", "angle: 1/t", ("'1/t' fails at t = 0 s", "division by zero")),
    "times of steps": Mistake(
        "slider [m]: position of slider.point",
        "hinge: reaction of hinge crank.tip–rod.root",
        ("separate table",),
        -2,
    ),
    "gravity": Mistake("gravity: [0, 0, -9.81]", "gravity: [0, -9.81]", ("gravity", "shape (3,)"), 0, "solid-bar"),
    # contacts
    "port of a shape": Mistake(
        "port: ball.centre", "port: ball.center", ("first.port", "'centre'"), 0, "bouncing-ball"
    ),
    "in each other": Mistake(
        "fixed: {ball: [0, 1.1 m, 0]}",
        "fixed: {ball: [0, 5 cm, 0]}",
        ("start", "overlap at the start, by 0.05 m"),
        -1,
        "bouncing-ball",
    ),
    "method of a run": Mistake(
        "name: exact, contact: events",
        "name: decaying, radius: 0.5",
        ("rigid contacts such as 'floor'",),
        -3,
        "bouncing-ball",
    ),
    "limit of an angle": Mistake(
        "    lower: -120 deg\n    upper: -30 deg",
        "    upper: 200 deg",
        ("upper must lie between", "3.49"),
        0,
        "bouncing-ball",
    ),
}
