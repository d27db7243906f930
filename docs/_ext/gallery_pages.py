"""The gallery: an index by category that is searched, and a page for each case."""

from __future__ import annotations

import shutil
from html import escape
from pathlib import Path
from typing import Any

from case_runs import CaseRun
from contents import CATEGORIES, OTHER, Contents, contents_of
from page_parts import checks_table, html_table, literal, number

from flexph.view import write_library

ORDER = ("Beams", "Plates and solids", "Rods and cables", "Rigid bodies", "Contact and impact", "Control")
"""Categories that come first."""
KINDS = ("bodies", "joints", "force elements", "contacts", "control", "circuits", "methods")
"""Kinds of what is in a case, as its page lists them."""


def gallery(runs: list[CaseRun], docs: Path) -> dict[str, str]:
    """Pages of the gallery by name: one for each case, and the index with their covers."""
    stories = {case: page for page in sorted(docs.glob("cases/*.md")) for case in stories_of(page)}
    contents = {run.name: contents_of(run.case) for run in runs}
    pages = {run.name: case_page(run, contents[run.name], docs, stories.get(run.name)) for run in runs}
    return pages | {"index": gallery_index(runs, contents)}


def stories_of(page: Path) -> list[str]:
    """Names of the cases whose results a page discusses: its first line, ``% cases: NAME, NAME``."""
    first = page.read_text(encoding="utf-8").partition("\n")[0]
    return [name.strip() for name in first.removeprefix("% cases:").split(",")] if first.startswith("% cases:") else []


def gallery_index(runs: list[CaseRun], contents: dict[str, Contents]) -> str:
    """Covers of all cases by category, which play under the pointer, and a field that searches what is in them."""
    titles = (*ORDER, *(title for title, _, _ in CATEGORIES if title not in ORDER), OTHER)
    parts = []
    for title in titles:
        cards = "".join(_card(run, contents[run.name]) for run in runs if contents[run.name].category == title)
        if cards:
            parts.append(f"## {title}\n\n```{{raw}} html\n<div class='cases'>\n{cards}</div>\n```\n")
    words = sorted({word for own in contents.values() for word in own.words})
    options = "".join(f"<option value='{escape(word, quote=True)}'>" for word in words)
    search = (
        "<div class='case-search'><input type='search' list='case-words' aria-label='search the cases' "
        "placeholder='joint, body, method, or a word'>"
        f"<datalist id='case-words'>{options}</datalist><span aria-live='polite'></span></div>"
    )
    toctree = "\n".join(run.name for run in runs)
    return (
        "# Gallery\n\nEvery case with its motion, figures, numbers and code; all were computed for these pages.\n\n"
        f"```{{raw}} html\n{search}\n<script src='../_static/gallery.js' defer></script>\n```\n\n"
        f"{''.join(f'{part}{chr(10)}' for part in parts)}```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"
    )


def _card(run: CaseRun, contents: Contents) -> str:
    words = " ".join([run.name, run.case.summary, *contents.words]).lower()
    told = ", ".join(word for kind in KINDS[:4] for word in sorted(contents.parts.get(kind, ())))
    tags = f"<small>{escape(told)}</small>" if told else ""
    return (
        f"<a class='case' href='{run.name}.html' data-words='{escape(words, quote=True)}'>"
        f"{_cover(run)}<b>{run.name}</b><span>{escape(run.case.summary)}</span>{tags}</a>\n"
    )


def _cover(run: CaseRun) -> str:
    if run.cover is None:
        return ""
    alt = f"{run.name} in motion" if run.film else f"a figure of {run.name}"
    still = f"<img src='../_static/gallery/{run.name}-cover.png' alt='{alt}' loading='lazy'>"
    film = f"<img src='../_static/gallery/{run.name}-film.webp' alt='' loading='lazy'>" if run.film else ""
    return f"<span class='cover'>{still}{film}</span>"


def motion_files(runs: list[CaseRun], static: Path) -> None:
    """Put covers and films, and the library of views, where the site finds them."""
    shutil.rmtree(static / "gallery", ignore_errors=True)
    (static / "gallery").mkdir()
    for run in runs:
        for kind, source in (("cover", run.cover), ("film", run.film)):
            if source is not None:
                shutil.copyfile(source, static / "gallery" / f"{run.name}-{kind}{source.suffix}")
    write_library(static / "flexph-view.js")


def case_page(run: CaseRun, contents: Contents, docs: Path, story: Path | None) -> str:
    """The page of a case: its motion, figures with captions, numbers and checks, command and source."""
    figures = [
        (f"<code>{escape(name)}</code>", escape(number(value)))
        for name, value in run.figures.items()
        if isinstance(value, int | float | str)
    ]
    parts = [
        f"# {run.name}\n\n{literal(run.case.summary)}",
        f"The results are discussed on a page of their own: [](../cases/{story.name})." if story else "",
        f"```{{raw}} html\n{run.view}\n```" if run.view else "",
        "\n\n".join(_figure(path, run, contents, docs) for path in run.pictures),
        f"## Numbers\n\n{_raw(html_table(('quantity', 'value'), figures, kind='numbers'))}" if figures else "",
        f"## Checks\n\n{_raw(checks_table(run.checks))}" if run.checks else "",
        run.told,
        _made_of(contents),
        *_code(run),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```"


def _figure(path: Path, run: CaseRun, contents: Contents, docs: Path) -> str:
    """A figure with a sentence."""
    words = path.stem.replace("-", " ").replace("_", " ")
    caption = contents.captions.get(path.stem) or f"{words[:1].upper()}{words[1:]} of {run.name}."
    return f"```{{figure}} /{path.relative_to(docs).as_posix()}\n:alt: {words} of {run.name}\n\n{literal(caption)}\n```"


def _made_of(contents: Contents) -> str:
    """List of the contents of a case."""
    named = [(kind, sorted(contents.parts[kind])) for kind in KINDS if contents.parts.get(kind)]
    lines = "\n".join(f"- {kind}: {literal(', '.join(names))}" for kind, names in named)
    return f"## What is in it\n\n{lines}" if lines else ""


def _code(run: CaseRun) -> list[str]:
    """Command, options and source."""
    options: list[Any] = [
        (f"<code>--{p.name.replace('_', '-')}</code>", f"<code>{escape(str(p.default))}</code>", escape(p.option.unit),
         escape(p.option.help))
        for p in run.case.parameters
    ]  # fmt: skip
    module = run.case.run.__module__
    return [
        f"## Code\n\n```sh\n{run.command}\n```",
        _raw(html_table(("option", "default", "unit", "what it is"), options, kind="options")) if options else "",
        f":::{{dropdown}} `{module}`\n```{{literalinclude}} ../../{module.replace('.', '/')}.py\n"
        ":language: python\n```\n:::",
    ]
