"""Loops as an installation has them: which modules they are, compiled and uncompiled, and what changed since.

A minute, as a compiler builds a small package, and each answer comes from a Python process of its own.
"""

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SHARED = ("build_sources.py", "build_loops.py")
LOOPS = {
    "sums.pxd": """from flexph.numerics.loops.views cimport Vec
cdef double FACTOR
cdef double scaled_sum(Vec x, Py_ssize_t count) noexcept nogil
""",
    "sums.py": """import cython

FACTOR = cython.declare(cython.double, 0.1)


def scaled_sum(x, count):
    total = 0.0
    for i in range(count):
        total += FACTOR * x[i]
    return total
""",
    "entry.pxd": """from flexph.numerics.loops.views cimport Vec
from flexph.sums cimport scaled_sum
cdef double called(Py_ssize_t address, Py_ssize_t size, Py_ssize_t count) noexcept nogil
""",
    "entry.py": """import cython
import numpy as np

if not cython.compiled:
    from flexph.sums import scaled_sum

COMPILED = cython.compiled


def total(x, count):
    if cython.compiled:
        return called(x.ctypes.data, x.size, count)
    return scaled_sum(x, count)


def called(address, size, count):
    x = cython.declare(Vec)
    x.p = cython.cast(cython.pointer(cython.double), address)
    x.size = size
    return scaled_sum(x, count)
""",
}
USE = "import numpy as np; from flexph.entry import *; x = np.sqrt(np.arange(9.0)); print(COMPILED, total(x, {}).hex())"
NEEDS_SETUPTOOLS = pytest.mark.skipif(importlib.util.find_spec("setuptools") is None, reason="needs setuptools")
NEEDS_COMPILER = pytest.mark.skipif(
    not (os.environ.get("CXX") or shutil.which("c++")) or importlib.util.find_spec("setuptools") is None,
    reason="needs a C++ compiler and setuptools",
)


def project(folder):
    """A package of two modules of loops, with the build and the importer of flexph."""
    for name in SHARED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "flexph/numerics/loops", folder / "flexph/numerics/loops", ignore=lambda *_: ["built.json"])
    (folder / "flexph/numerics/__init__.py").touch()
    finding = "from flexph.numerics.loops.built import find_loops\nfind_loops()\n"
    (folder / "flexph/__init__.py").write_text(finding, encoding="utf-8")
    for name, text in LOOPS.items():
        (folder / "flexph" / name).write_text(text, encoding="utf-8")
    lines = ("from build_loops import *", "from setuptools import setup")
    call = 'setup(name="flexph", packages=[], ext_modules=extensions(), cmdclass={"build_ext": BuildLoops})'
    (folder / "setup.py").write_text("\n".join((*lines, call)), encoding="utf-8")
    return folder


def python(folder, *words, **environment):
    """Run this Python in the folder of a project."""
    removed = ("PYTHONPATH", "FLEXPH_LOOPS", "CFLAGS", "CXXFLAGS")
    env = {key: value for key, value in os.environ.items() if key not in removed}
    env |= {"PYTHONPATH": str(folder)} | environment
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


def answer(folder, count=9, **environment):
    """What the loops of a project print; its last line if they raise."""
    done = python(folder, "-c", USE.format(count), **environment)
    return done.stdout.split() or done.stderr.splitlines()[-1]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A project with compiled loops that test their indices."""
    folder = project(tmp_path_factory.mktemp("compiled"))
    done = python(folder, "setup.py", "-q", "build_ext", "--inplace", FLEXPH_LOOPS="checked")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@NEEDS_COMPILER
def test_compiled_loops_and_their_sources_say_the_same(compiled):
    """To the last bit, as the compiler contracts nothing."""
    (by_compiler, first), (by_source, second) = answer(compiled), answer(compiled, FLEXPH_LOOPS="none")
    assert (by_compiler, by_source, first) == ("True", "False", second)


@NEEDS_COMPILER
def test_checked_loops_end_at_an_index_out_of_range(compiled):
    done = python(compiled, "-c", USE.format(10))
    assert done.returncode != 0 and "index 9 of 9" in done.stderr


@NEEDS_COMPILER
def test_loops_older_than_a_source_are_refused(compiled):
    expected = answer(compiled)
    for name in ("flexph/sums.py", "flexph/entry.pxd", "flexph/numerics/loops/views.hpp"):
        text = (compiled / name).read_text(encoding="utf-8")
        try:
            (compiled / name).write_text(text + "\n", encoding="utf-8")
            refused = answer(compiled)
            assert f"{name} has changed since loops were compiled" in refused
            assert f'pip install -e "{compiled}"' in refused
            if name.endswith(".hpp"):
                assert answer(compiled, FLEXPH_LOOPS="none") == ["False", expected[1]]
            (compiled / name).unlink()
            assert f"{name} has changed" in answer(compiled)
        finally:
            (compiled / name).write_text(text, encoding="utf-8")
    assert answer(compiled) == expected  # written anew with what it held: as git does when branches are changed


@NEEDS_COMPILER
def test_the_record_says_how_loops_were_compiled(compiled):
    source = "from flexph.numerics.loops.built import *; print(are_compiled(), described())"
    said = python(compiled, "-c", source).stdout
    assert said.startswith("True 3 modules of loops compiled by Cython ")
    assert "-ffp-contract=off" in said and said.endswith("with tests of indices\n")


@NEEDS_SETUPTOOLS
def test_without_a_compiler_sources_run_and_one_line_says_so(tmp_path):
    folder = project(tmp_path)
    stale = folder / "flexph/sums.abi3.so"
    stale.touch()  # of an earlier installation, which Python would import
    done = python(folder, "setup.py", "-q", "build_ext", "--inplace", CXX="no-such-compiler")
    assert done.returncode == 0 and not stale.exists(), done.stderr
    assert answer(folder)[0] == "False"
    warn = "from flexph.numerics.loops.built import *; print(are_compiled()); [warn_if_uncompiled() for _ in range(2)]"
    done = python(folder, "-c", warn)
    (line,) = done.stderr.splitlines()
    assert done.stdout == "False\n" and f'pip install -e "{folder}"' in line
    assert "about 1000 times slower (CompileError: no-such-compiler does not compile" in line
    assert python(folder, "-c", warn, FLEXPH_LOOPS="none").stderr == ""  # it was asked for
    done = python(folder, "setup.py", "-q", "build_ext", "--inplace", CXX="no-such-compiler", FLEXPH_LOOPS="required")
    assert done.returncode != 0


@NEEDS_SETUPTOOLS
def test_a_wrong_word_in_the_environment_is_refused(tmp_path):
    done = python(project(tmp_path), "setup.py", "-q", "build_ext", "--inplace", FLEXPH_LOOPS="no")
    assert done.returncode != 0 and "FLEXPH_LOOPS=no: none, required or checked" in done.stderr


def build_sources():
    """The module of that name, which belongs to no package."""
    spec = importlib.util.spec_from_file_location("build_sources_of_flexph", ROOT / "build_sources.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for types
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("source", "declared", "expected"),
    [
        ("import cython\n", True, True),
        ("import cython\n", False, False),
        ("import numpy\n", True, False),  # structures of a plain module
        ("# import cython\n", True, False),
    ],
)
def test_what_makes_a_module_one_of_loops(tmp_path, source, declared, expected):
    (tmp_path / "flexph").mkdir()
    (tmp_path / "flexph" / "x.py").write_text(source, encoding="utf-8")
    if declared:
        (tmp_path / "flexph" / "x.pxd").write_text("cdef double FAST\n", encoding="utf-8")
    module = build_sources()
    assert module.loops(tmp_path) == [Path("flexph/x.py")] * expected
    assert (Path("flexph/x.pxd") in module.sources(tmp_path)) == declared


def functions(text):
    """Names of the functions of a module."""
    return {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def test_joined_modules_hold_each_function_once_and_general_ones_twice():
    """Under the name of its module, and a second time over complex numbers, without anything of decay."""
    sources = build_sources()
    expected = {}
    for path in sources.loops():
        text, declared = ((ROOT / path).with_suffix(suffix).read_text(encoding="utf-8") for suffix in (".py", ".pxd"))
        module = sources.Module(".".join(path.with_suffix("").parts), text, declared)
        names = {f"{path.stem}__{name}" for name in functions(text)}
        names |= {f"{path.stem}_complex__{name}" for name in module.general}
        expected.setdefault(path.parent, set()).update(names)
    made = sources.joined_modules(ROOT)
    joined = {path.parent: functions(text) for path, text in made.items() if path.suffix == ".py"}
    recorded = {name for names in joined.values() for name in names if "_recorded__" in name}
    assert {folder: names - recorded for folder, names in joined.items()} == expected
    assert [folder.name for folder, names in joined.items() if names & recorded] == ["recorded"] and len(recorded) > 100
    assert sum("_complex__" in name for names in expected.values() for name in names) > 20
    for path, text in made.items():
        assert not re.search(r"cimport (Vec|Mat|Memory) as", text)
        for node in ast.parse(text).body if path.suffix == ".py" else ():
            if isinstance(node, ast.FunctionDef) and "_complex__" in node.name:
                assert "decay > 0" not in ast.unparse(node) or "else:" in ast.unparse(node)


def test_joined_names_leave_local_variables_alone(tmp_path):
    (tmp_path / "flexph").mkdir()
    text = """import cython

ONE = cython.declare(cython.double, 1.0)


def add(x: float) -> float:
    return x + ONE


def twice(add: float) -> float:
    ONE = 2.0
    return ONE * add
"""
    (tmp_path / "flexph" / "x.py").write_text(text, encoding="utf-8")
    (tmp_path / "flexph" / "x.pxd").write_text("cdef double ONE\ncdef double add(double x) noexcept nogil\n")
    joined = build_sources().joined_modules(tmp_path)
    source, declared = joined[Path("flexph/compiled.py")], joined[Path("flexph/compiled.pxd")]
    assert "return x + x__ONE" in source and "return ONE * add" in source
    assert declared == "cdef double x__ONE\ncdef double x__add(double x) noexcept nogil"
    (tmp_path / "flexph" / "x.py").write_text(f"{text}\nfor i in range(3):\n    add(i)\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"flexph.x: loops.*imports, constants.*functions, no 'for i.*"):
        build_sources().joined_modules(tmp_path)


def test_every_module_of_loops_has_its_source():
    assert [path for path in build_sources().loops() if not (ROOT / path).exists()] == []


def test_sources_run_without_cython():
    """The names of cython that sources take are those of uncompiled.py; declared values are those of Cython."""
    from flexph.numerics.loops import uncompiled

    sources = build_sources()
    named = {
        name
        for path in sources.loops()
        for name in re.findall(r"\bcython\.(\w+)", (ROOT / path).read_text(encoding="utf-8"))
    }
    assert named <= set(vars(uncompiled))
    cython = pytest.importorskip("Cython.Shadow")
    for kind in ("double", "Py_ssize_t", "bint"):
        for value in ((), (2,), (0.0,), (7.5,)):
            own, other = (module.declare(getattr(module, kind), *value) for module in (uncompiled, cython))
            assert own == other and type(own) is type(other)
