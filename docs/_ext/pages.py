"""Generated pages: gallery, validation and reference."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from case_runs import CaseRun

from flexph.view import write_library

KINDS = ("published", "closed form", "independent code", "theorem", "bound", "not comparable")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table of Markdown; bars in cells are escaped."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def number(value: Any) -> str:
    """A value of a summary, short."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def write(path: Path, text: str) -> None:
    """Write a page only if it has changed, so that Sphinx reads it again only then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_all(folder: Path, suffix: str, texts: dict[str, str]) -> None:
    """Write the pages of a folder by name, and remove those of earlier builds that are no longer there."""
    for name, text in texts.items():
        write(folder / f"{name}{suffix}", text)
    for page in folder.glob(f"*{suffix}"):
        if page.name.removesuffix(suffix) not in texts:
            page.unlink()


def checks_table(checks: list[dict[str, Any]], *, kinds: bool = True) -> str:
    """Checks with source, value, reference, difference and tolerance; ``kinds``: and with the kind of reference."""
    head = ("quantity", "kind", "source", "reference", "computed", "difference", "tolerance", "")
    rows = [head, *(_check_row(check) for check in checks)]
    first, *others = rows if kinds else [(row[0], *row[2:]) for row in rows]
    return table(first, others)


def _check_row(check: dict[str, Any]) -> tuple[str, ...]:
    scale, unit = (100.0, " %") if check["relative"] else (1.0, "")
    return (
        *(literal(check["quantity"]), check["kind"], literal(check["source"])),
        *(f"{check['reference']:.8g}", f"{check['computed']:.8g}"),
        f"{scale * check['difference']:+.2g}{unit}",
        "" if check["tolerance"] is None else f"{scale * check['tolerance']:.2g}{unit}",
        {True: "✓", False: "**fails**", None: "–"}[check["passed"]],
    )


def literal(text: str) -> str:
    """Text whose brackets, underscores, stars and dollars are letters."""
    return "".join(f"\\{letter}" if letter in "[]_*$<>`{}\\" else letter for letter in text)


def gallery(runs: list[CaseRun], docs: Path) -> dict[str, str]:
    """Pages of the gallery by name: one for each case, and the index with their pictures."""
    stories = {case: page for page in sorted(docs.glob("cases/*.md")) for case in stories_of(page)}
    pages = {run.name: case_page(run, docs, stories.get(run.name)) for run in runs}
    return pages | {"index": gallery_index(runs, docs)}


def stories_of(page: Path) -> list[str]:
    """Names of the cases whose results a page discusses: its first line, ``% cases: NAME, NAME``."""
    first = page.read_text(encoding="utf-8").partition("\n")[0]
    return [name.strip() for name in first.removeprefix("% cases:").split(",")] if first.startswith("% cases:") else []


def gallery_index(runs: list[CaseRun], docs: Path) -> str:
    """A grid of all cases with their covers, which play under the pointer."""
    cards = "\n".join(
        f":::{{grid-item-card}} {run.name}\n:link: {run.name}\n:link-type: doc\n{_cover(run, docs)}\n"
        f"{literal(run.case.summary)}\n:::\n"
        for run in runs
    )
    toctree = "\n".join(run.name for run in runs)
    return (
        f"# Gallery\n\nEvery case with its pictures, command and numbers; all were computed for these pages.\n\n"
        f"::::{{grid}} 1 2 2 3\n:gutter: 3\n\n{cards}::::\n\n```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"
    )


def _cover(run: CaseRun, docs: Path) -> str:
    if run.film is None:
        return f":img-top: /{run.cover.relative_to(docs).as_posix()}\n:img-alt: {run.name}\n" if run.cover else ""
    still, film = (f"../_static/gallery/{run.name}-{kind}.png" for kind in ("cover", "film"))
    return (
        f"```{{raw}} html\n<div class='cover'><img src='{still}' alt='{run.name} in motion' loading='lazy'>"
        f"<img src='{film}' alt='' loading='lazy'></div>\n```\n"
    )


def motion_files(runs: list[CaseRun], static: Path) -> None:
    """Put covers and films, and the library of views, where the site finds them."""
    (static / "gallery").mkdir(exist_ok=True)
    for run in runs:
        for kind, source in (("cover", run.cover), ("film", run.film)):
            if run.film is not None and source is not None:
                shutil.copyfile(source, static / "gallery" / f"{run.name}-{kind}.png")
    write_library(static / "flexph-view.js")


def case_page(run: CaseRun, docs: Path, story: Path | None) -> str:
    """The page of a case: its motion, pictures, command and options, numbers, checks, source."""
    options = [
        (f"`--{p.name.replace('_', '-')}`", f"`{p.default}`", p.option.unit, literal(p.option.help))
        for p in run.case.parameters
    ]
    figures = [
        (f"`{name}`", number(value)) for name, value in run.figures.items() if isinstance(value, int | float | str)
    ]
    view = f"```{{raw}} html\n{run.view}\n```" if run.view else ""
    pictures = "\n\n".join(f"![{p.stem} of {run.name}](/{p.relative_to(docs).as_posix()})" for p in run.pictures)
    module = run.case.run.__module__
    parts = [
        f"# {run.name}\n\n{literal(run.case.summary)}",
        f"The results are discussed on a page of their own: [](../cases/{story.name})." if story else "",
        view,
        pictures,
        f"## Command\n\n```sh\n{run.command}\n```",
        table(("option", "default", "unit", ""), options) if options else "",
        f"## Numbers\n\n{table(('', ''), figures)}" if figures else "",
        run.told,
        f"## Checks\n\n{checks_table(run.checks)}",
        f"## Source\n\n:::{{dropdown}} `{module}`\n"
        f"```{{literalinclude}} ../../{module.replace('.', '/')}.py\n:language: python\n```\n:::",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def validation(runs: list[CaseRun]) -> str:
    """All checks of all cases, by kind of reference."""
    checks = [(run, check) for run in runs for check in run.checks]
    counted = [
        (kind, str(len(of)), "–" if None in of else str(sum(of)))
        for kind in KINDS
        for of in [[check["passed"] for _, check in checks if check["kind"] == kind]]
    ]
    failed = sum(check["passed"] is False for _, check in checks)
    kinds = "\n\n".join(_of_kind(kind, runs) for kind in KINDS)
    return (
        f"# Validation\n\n{len(checks)} numbers of {len(runs)} cases beside references, as `flexph validate` compares "
        f"them; {failed or 'none'} of them fail{'s' if failed == 1 else ''}.\nRelative differences are in per cent, "
        f"absolute ones in the unit of the quantity.\n\n{table(('kind of reference', 'checks', 'pass'), counted)}\n\n"
        f"{kinds}\n"
    )


def _of_kind(kind: str, runs: list[CaseRun]) -> str:
    means = {
        "published": "The number stands in the source, with the digits that are compared.",
        "closed form": "A formula or a series of the source, evaluated for the data of the case.",
        "independent code": "Another program, library or formulation computed it.",
        "theorem": "Theory says what it is for any data: zero for what is kept, an order, a count.",
        "bound": "The number is at most the reference; the two need not be near each other.",
        "not comparable": "The source prints the number for other data: shown, neither passed nor failed.",
    }
    parts = [f"## {kind.capitalize()}\n\n{means[kind]}"]
    for run in runs:
        checks = [check for check in run.checks if check["kind"] == kind]
        if checks:
            parts.append(f"### [{run.name}](gallery/{run.name}.md)\n\n{checks_table(checks, kinds=False)}")
    return "\n\n".join(parts)
