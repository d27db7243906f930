"""Extension modules of loops: found by their ``.pxd``, compiled by Cython and a C++ compiler when the package is built.

A module ``x.py`` of flexph is one of loops if ``x.pxd`` stands beside it and it imports cython; build_sources.py joins
those of a folder, and what it writes is there while Cython runs. Values of the variable ``FLEXPH_LOOPS`` of the
environment (without one loops are compiled if that is possible, else they run uncompiled):

``required``
    An error in place of an installation without compiled loops.
``checked``
    The same, and every index is tested when loops run, which takes 3 to 8 times as long: a build for tests.
``none``
    No loop is compiled.
``baseline``
    As without one: it is for running (see flexph/numerics/loops/built.py).

``DIRECTIVES``
    Numbers are those of C, and indices are right: ``checked`` tests them. Annotations are documentation, types stand in
    the ``.pxd``. Functions are neither pickled nor bound to instances.
``-O2 -fpeel-loops``
    Loops run over two, three, four or a dozen numbers. ``-O3`` prepares each for thousands, and is 15 to 50 % slower;
    without ``-fpeel-loops`` GCC leaves those of a length that it knows as loops, and steps in space take 30 % longer.
``-fipa-cp-clone``
    Functions that are called with 2 or 3 dimensions become two, whose loops have these lengths: Gauss collocation takes
    0.93 of the time.
``-ffp-contract=off``, ``/fp:precise``
    No a*b + c with one rounding: the numbers are the same to the last bit by every compiler, on every processor, and of
    the uncompiled source. It costs nothing that was measured.
``-fcx-limited-range``
    Products of complex numbers have four factors and no care for infinities, which takes calls.
``-mavx2``
    Loops over four numbers at once, in the folders ``WIDE``, are compiled a second time for processors that have such
    instructions, most x86-64 since 2013: steps take 0.9 of the time, to the same bits, as it does not bring FMA.
``-fno-ipa-ra``
    With it, and ``-mavx2``, GCC 12 leaves out a ``vzeroupper`` before functions that use no wide registers, after
    which SSE instructions of other modules are slow: decaying steps took 1.6 times as long.
``-fno-inline-functions-called-once``
    Loops over lanes keep their registers if they are functions of their own: steps in space take 0.95 of the time.
``-pthread``
    Two threads of C++ where a computation has two halves (threads.hpp); no OpenMP, which compilers of macOS lack.
``-g0 -w``
    Debug information, which Python's own flags ask for, is ten times the size of the code, and warnings are about what
    Cython has written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from textwrap import shorten

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

from build_sources import JOINED, PACKAGE, ROOT, joined_modules, loops, sources

RECORD = Path(PACKAGE, "numerics", "loops", "built.json")
"""How loops were built, for flexph/numerics/loops/built.py."""
GENERATED = Path("build", "loops")
"""Sources in C++, which later builds take if nothing has changed."""
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "cpow": True,
    "infer_types": True,
    "initializedcheck": False,
    "annotation_typing": False,
    "auto_pickle": False,
    "binding": False,
}
COMMON = ["-O2", "-ffp-contract=off", "-std=c++17", "-g0", "-w"]
FLAGS = {
    "gcc": [*COMMON, "-fpeel-loops", "-fipa-cp-clone", "-fcx-limited-range"],
    "clang": COMMON,
    "msvc": ["/O2", "/fp:precise", "/std:c++17", "/EHsc"],
}
WIDE = ("flexph/integration/loops/mechanics", "flexph/integration/loops/solids", "flexph/numerics/algebra")
"""Folders whose loops run over lanes (views.hpp)."""
AVX2 = "avx2"
"""Folder of a second extension module for processors with these instructions, and their name for the compiler."""
WIDE_FLAGS = {"gcc": [f"-m{AVX2}", "-fno-ipa-ra", "-fno-inline-functions-called-once"], "clang": [f"-m{AVX2}"]}
"""Further flags of these modules."""
ABI3 = not sysconfig.get_config_var("Py_GIL_DISABLED")
"""One wheel serves Python 3.11 and all later ones; those without the GIL have no stable interface yet."""
OPTIONS = {"bdist_wheel": {"py_limited_api": "cp311"}} if ABI3 else {}
HEADERS = '#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n#include "views.hpp"\n'
"""What all modules include."""
INCLUDED = re.compile(r'^ *# *include "(\w+\.hpp)"', re.MULTILINE)


def extensions() -> list[Extension]:
    """One extension module for each folder with loops."""
    macros: list[tuple[str, str | None]] = [("Py_LIMITED_API", "0x030B0000")] if ABI3 else []
    if os.environ.get("FLEXPH_LOOPS") == "checked":
        macros.append(("CHECKED", None))
    folders = sorted({path.parent for path in loops()})
    wide = [folder / AVX2 for folder in folders if folder.as_posix() in WIDE]
    return [
        Extension(
            ".".join((*folder.parts, JOINED)),
            [f"{folder.as_posix()}/{JOINED}.py"],
            include_dirs=[f"{PACKAGE}/numerics/loops"],  # views.hpp
            define_macros=macros,
            language="c++",
            py_limited_api=ABI3,
        )
        for folder in (*folders, *wide)
    ]


class BuildLoops(build_ext):
    """Compile all loops or none, and write down how: modules of loops call one another."""

    def finalize_options(self) -> None:
        """Compile on all cores, and go on from what an earlier build left, in editable installations too."""
        wanted = os.environ.get("FLEXPH_LOOPS", "")
        if wanted not in ("", "none", "required", "checked", "baseline"):
            raise ValueError(f"FLEXPH_LOOPS={wanted}: none, required or checked")
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()
        if self.inplace:  # pip passes folders that it removes; these are those of a wheel
            build = f"{self.plat_name}-{sys.implementation.cache_tag}"
            self.build_lib, self.build_temp = f"build/lib.{build}", f"build/temp.{build}"

    def run(self) -> None:
        """Compile, or say why loops run uncompiled."""
        wanted, inplace = os.environ.get("FLEXPH_LOOPS", ""), self.inplace
        self.record = {"modules": [], "sources": _states(), "checked": wanted == "checked"}
        if wanted == "none":
            self.record["reason"] = "FLEXPH_LOOPS=none when it was installed"
        else:
            try:
                _write(joined_modules(ROOT))
                for folder in WIDE if inplace else ():  # setuptools copies into what is there
                    Path(folder, AVX2).mkdir(parents=True, exist_ok=True)
                super().run()
                self.record["modules"] = [".".join(path.with_suffix("").parts) for path in loops()]
                self.record[AVX2] = [extension.name for extension in self.extensions if _is_wide(extension)]
            except Exception as error:
                if wanted in ("required", "checked"):
                    raise
                self.record["reason"] = shorten(f"{type(error).__name__}: {error}", 200)
                self.warn(f"loops run uncompiled, about 1000 times slower: {self.record['reason']}")
            finally:
                for path in (ROOT / PACKAGE).rglob(f"{JOINED}.p*"):
                    path.unlink()
        self._finish(inplace)

    def build_extensions(self) -> None:
        """Try the compiler, translate to C++, and compile what has changed."""
        kind = self._try_compiler()
        stamp = self._translate()
        depends = [*(path.as_posix() for path in sources() if path.suffix == ".hpp"), str(stamp)]
        header = self._precompiled(depends) if kind == "gcc" else []
        wide = [*FLAGS[kind], *WIDE_FLAGS.get(kind, ())]
        if kind == "msvc" or self.record["checked"] or not self._compiles(wide):
            self.extensions = [extension for extension in self.extensions if not _is_wide(extension)]
        for extension in self.extensions:
            extension.extra_compile_args = wide if _is_wide(extension) else [*FLAGS[kind], *header]
            extension.extra_link_args = [] if kind == "msvc" else ["-pthread"]
            extension.depends = [*_included(Path(extension.sources[0])), str(stamp)]
        super().build_extensions()

    def _compiles(self, flags: list[str]) -> bool:
        """True if the compiler takes flags."""
        directories = self.extensions[0].include_dirs
        try:
            self.compiler.compile([f"{self.build_temp}/smallest.cpp"], include_dirs=directories, extra_postargs=flags)
        except CompileError:
            return False
        return True

    def _try_compiler(self) -> str:
        """Kind of the compiler, which must be able to compile the headers: Cython takes some seconds."""
        Path(self.build_temp).mkdir(parents=True, exist_ok=True)
        smallest = Path(self.build_temp, "smallest.cpp")
        smallest.write_text(HEADERS, encoding="utf-8")
        kind, version = "msvc", "MSVC"
        try:
            if self.compiler.compiler_type != "msvc":
                command = [*self.compiler.compiler_cxx, "--version"]
                version = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                kind = "gcc" if "Free Software Foundation" in version else "clang"
            directories = self.extensions[0].include_dirs
            self.compiler.compile([str(smallest)], include_dirs=directories, extra_postargs=FLAGS[kind])
        except Exception as error:
            name = self.compiler.compiler_cxx[0] if self.compiler.compiler_type != "msvc" else version
            raise CompileError(f"{name} does not compile the headers of Python by C++17") from error
        given = " ".join(os.environ.get(name, "") for name in ("CFLAGS", "CXXFLAGS")).split()
        self.record |= {"compiler": version.partition("\n")[0], "flags": [*given, *FLAGS[kind]]}
        return kind

    def _translate(self) -> Path:
        """Have Cython write C++ for what has changed; a file that is newer where compiler or flags are others."""
        import Cython
        from Cython.Build import cythonize

        self.record["cython"] = Cython.__version__
        stamp, keys = GENERATED / "built_by.txt", ("compiler", "flags", "checked")
        anew = _rewrite(stamp, json.dumps([DIRECTIVES, WIDE_FLAGS, *(self.record[key] for key in keys)]))
        before = {} if anew else {path: (path.stat(), path.read_bytes()) for path in GENERATED.rglob("*.cpp")}
        translated = cythonize(
            [
                Extension(e.name, e.sources, language="c++", py_limited_api=ABI3)
                for e in self.extensions
                if not _is_wide(e)
            ],
            force=anew,
            nthreads=os.cpu_count(),
            build_dir=str(GENERATED),
            compiler_directives=DIRECTIVES,
            quiet=True,
        )
        # pip installs Cython anew for each build, whose declarations of libc are newer than all that was written.
        for path, (state, text) in before.items():
            if path.read_bytes() == text:
                os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
        generated = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            if _is_wide(extension):
                source = Path(generated[extension.name.replace(f".{AVX2}.", ".")][0])
                _rewrite(source.parent / AVX2 / source.name, source.read_text(encoding="utf-8"))
                extension.sources = [f"{source.parent}/{AVX2}/{source.name}"]
            else:
                extension.sources = generated[extension.name]
        return stamp

    def _precompiled(self, depends: list[str]) -> list[str]:
        """Have the headers read once for all modules, which takes off a third of the time of GCC.

        Clang refuses headers that were compiled for another of the processors of a build, as there are on macOS.
        """
        header, first = Path(self.build_temp, "headers.hpp"), self.extensions[0]
        compiled = Path(f"{header}.gch")
        header.write_text(HEADERS, encoding="utf-8")
        if not compiled.exists() or any(compiled.stat().st_mtime < os.stat(path).st_mtime for path in depends):
            macros = [f"-D{name}" if value is None else f"-D{name}={value}" for name, value in first.define_macros]
            included = [f"-I{path}" for path in (*first.include_dirs, *self.compiler.include_dirs)]
            command = [*self.compiler.compiler_so_cxx, *macros, *included, *FLAGS["gcc"]]
            self.spawn([*command, "-x", "c++-header", str(header), "-o", str(compiled)])
        return ["-include", str(header)]

    def _finish(self, inplace: bool) -> None:
        """Write down what was built, and remove other extension modules, which Python would take for the sources."""
        own = {self.get_ext_filename(extension.name) for extension in self.extensions if self.record["modules"]}
        for root in {Path(self.build_lib), *([ROOT] if inplace else [])}:
            for path in (root / PACKAGE).rglob("*"):
                if path.suffix in (".so", ".pyd") and str(path.relative_to(root)) not in own:
                    path.unlink()
            (root / RECORD).parent.mkdir(parents=True, exist_ok=True)
            record = self.record | {"checkout": inplace and root == ROOT}
            (root / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
        if not self.record["modules"]:
            self.extensions = []


def _included(source: Path) -> set[str]:
    """Headers of loops that a source in C++ includes, and those that these include."""
    folder, found, texts = Path(PACKAGE, "numerics", "loops"), {"views.hpp"}, [source]
    while texts:
        names = set(INCLUDED.findall(texts.pop().read_text(encoding="utf-8"))) - found
        names = {name for name in names if (folder / name).exists()}
        found |= names
        texts += [folder / name for name in names]
    return {(folder / name).as_posix() for name in found}


def _is_wide(extension: Extension) -> bool:
    """True for a second extension module, for processors with AVX2."""
    return f".{AVX2}." in extension.name


def _write(modules: dict[Path, str]) -> None:
    """Write modules for Cython, with the times at which their texts were made: it translates what is newer."""
    for path, text in modules.items():
        _rewrite(GENERATED / path, text)
        shutil.copy2(GENERATED / path, ROOT / path)


def _states() -> dict[str, tuple[int, str]]:
    """Time of the last change [ns], which is quickly compared, and hash of each source."""
    files = {path.as_posix(): ROOT / path for path in sources()}
    return {n: (p.stat().st_mtime_ns, hashlib.sha256(p.read_bytes()).hexdigest()) for n, p in files.items()}


def _rewrite(path: Path, text: str) -> bool:
    """Write a text unless it is there already; True if it was not."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True
