"""Buttons that open the tutorials in Binder and Colab, by the address ``Repository`` of pyproject.toml.

Without one, or with one elsewhere than on GitHub, there are no buttons and no notebooks.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
GITHUB = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?")
TUTORIAL = re.compile(r"tutorials/(\d+-[\w-]+)")
KERNEL = "  name: python3\n"
"""Line in the head of a tutorial that names its kernel, which notebooks know by two names."""
NOTEBOOKS = "notebooks"
"""Folder of the site with the notebooks that Colab opens."""


def repository() -> str:
    """The address of the sources, empty where pyproject.toml has none."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    return str(urls.get("Repository", ""))


def buttons(address: str, name: str) -> dict[str, str]:
    """Links that open a tutorial, by their texts; none for sources outside GitHub."""
    match = GITHUB.fullmatch(address)
    if match is None:
        return {}
    return {
        "Open in Binder": f"https://mybinder.org/v2/gh/{match[1]}/main?urlpath=lab/tree/docs/tutorials/{name}.ipynb",
        "Open in Colab": f"https://colab.research.google.com/github/{match[1]}/blob/gh-pages/{NOTEBOOKS}/{name}.ipynb",
    }


def with_buttons(text: str, links: dict[str, str]) -> str:
    """A page of Markdown with links below its heading."""
    told = " · ".join(f"[{words}]({link})" for words, link in links.items())
    return re.sub(r"^(# .*)$", lambda heading: f"{heading[1]}\n\n{told}", text, count=1, flags=re.MULTILINE)


def add_buttons(app: Sphinx, docname: str, source: list[str]) -> None:
    """Add the buttons to a tutorial as it is read."""
    if (match := TUTORIAL.fullmatch(docname)) and (links := buttons(repository(), match[1])):
        source[0] = with_buttons(source[0], links)


def notebook(path: Path, address: str) -> Any:
    """A tutorial as a notebook that first installs the package from its sources."""
    import jupytext
    from nbformat.v4 import new_code_cell

    text = path.read_text(encoding="utf-8")
    made = jupytext.reads(text.replace(KERNEL, f"{KERNEL}  display_name: Python 3\n", 1), fmt="md:myst")
    made.cells.insert(0, new_code_cell(f'%pip install -q "flexph[plot,studies] @ git+{address}"'))
    made.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return made


def write_notebooks(app: Sphinx, error: Exception | None) -> None:
    """Write the notebooks into a site that was built."""
    address = repository()
    if error is not None or app.builder.format != "html" or not GITHUB.fullmatch(address):
        return
    import nbformat

    folder = Path(app.outdir) / NOTEBOOKS
    folder.mkdir(exist_ok=True)
    for path in sorted((Path(app.srcdir) / "tutorials").glob("[0-9]*.md")):
        nbformat.write(notebook(path, address), folder / f"{path.stem}.ipynb")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register both."""
    app.connect("source-read", add_buttons)
    app.connect("build-finished", write_notebooks)
    return {"parallel_read_safe": True}
