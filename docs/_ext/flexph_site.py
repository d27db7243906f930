"""The extension of Sphinx: pages from cases and stubs, references to names and sources."""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path
from typing import Any

import sources
from benchmark_pages import measured, stored_runs
from case_runs import case_runs
from docutils import nodes
from gallery_pages import gallery, motion_files
from mathematics import mathml
from page_parts import write, write_all
from reference import PACKAGES, ROOT, bars, homes, pages, public_names
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole
from validation_page import validation

logger = logging.getLogger(__name__)


def write_pages(app: Sphinx) -> None:
    """Pages of gallery, validation, benchmarks and reference, before the sources are read."""
    docs = Path(app.srcdir)
    write_all(docs / "api", ".rst", pages())
    write_all(docs / "source", ".md", sources.pages(docs))
    logger.info("running the cases that are not in docs/_cache ...")
    runs = case_runs(docs / "_cache" / "cases", app.config.flexph_cases.split())
    motion_files(runs, docs / "_static")
    write_all(docs / "gallery", ".md", gallery(runs, docs))
    write(docs / "validation.md", validation(runs))
    write(docs / "measured.md", measured(stored_runs(docs / "benchmark-runs")))


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement) -> nodes.Node | None:
    """A reference to a name that Sphinx does not know.

    A name of the packages is sought under its public name. One that exists but is not public, or belongs to another
    library, is left as text; one that does not exist is left to Sphinx, which warns.
    """
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].lstrip(".").partition("[")[0]  # of a type, what stands before its parameters
    for full in _candidates(target, node.get("py:module"), node.get("py:class")):
        domain = env.domains["py"]
        if full in domain.objects:
            return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", full, node, content)
    return content if _exists(target) else None


def _candidates(target: str, module: str | None, inside: str | None) -> list[str]:
    """Dotted names that a target may stand for, the likeliest first."""
    owner, _, member = target.rpartition(".")
    public = [full for full, known in public_names().items() if known.name in (target, owner)]
    homed = [homes().get(public_names()[full].real, full) for full in public]
    return [
        homes().get(target, target),
        f"{homes().get(owner, owner)}.{member}",
        *(f"{module}.{target}", f"{module}.{inside}.{target}", f"{inside}.{target}"),
        *(home if not owner else f"{home}.{member}" for home in homed),
        *homed,
    ]


@cache
def defined() -> frozenset[str]:
    """Names of classes, functions and values of all modules of the packages, and what these import."""
    names: set[str] = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                match node:
                    case ast.ClassDef(name) | ast.FunctionDef(name) | ast.Assign([ast.Name(name)]):
                        names.add(name)
                    case ast.ImportFrom(names=imported):
                        names.update(alias.name for alias in imported)
    return frozenset(names)


def _exists(target: str) -> bool:
    """Whether a dotted name can be imported, or a bare one is defined or imported by a module of the packages."""
    parts = target.split(".")
    if len(parts) == 1:
        return target in defined()
    for split in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:split]))
            for part in parts[split:]:
                value = getattr(value, part)
        except (ImportError, AttributeError):
            continue
        return True
    return False


class Source(SphinxRole):
    """Role of a function in the text: a link to its reference, or else to a page with its lines."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """A reference to ``module.name``."""
        public = sources.public_home(self.text)
        text = ".".join((public or self.text).split(".")[-2:] if public else self.text.split(".")[-1:])
        words = nodes.literal(text, text, classes=["xref"])
        common = {"refexplicit": True, "refwarn": True, "refdoc": self.env.docname}
        if public:
            return [pending_xref("", words, refdomain="py", reftype="obj", reftarget=public, **common)], []
        return [
            pending_xref("", words, refdomain="std", reftype="ref", reftarget=sources.label(self.text), **common)
        ], []


def escape_bars(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Bars of a docstring's formulas are absolute values; reStructuredText would substitute what is between them."""
    block = -1  # indentation of the line that a literal block follows
    for position, line in enumerate(lines):
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth <= block:
            block = -1
        if block < 0 and not line.lstrip().startswith((">>>", "...", "| ")):
            lines[position] = bars(line)
            block = depth if line.rstrip().endswith("::") else -1


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above."""
    app.add_config_value("flexph_cases", "", "env")  # names of cases: a draft with these alone
    app.connect("builder-inited", write_pages)
    app.connect("missing-reference", resolve)
    app.connect("autodoc-process-docstring", escape_bars, priority=900)  # behind numpydoc
    app.add_role("source", Source())
    app.add_html_math_renderer("mathml", (mathml, None), (mathml, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
