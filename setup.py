"""What pyproject.toml cannot say: the description on a package index, README.md without links into the checkout."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]*)\)")
"""A picture or a link in Markdown that is relative."""


def long_description(text: str, repository: str | None) -> str:
    """The README with links into a repository; without one their words alone remain, and no pictures."""

    def replaced(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if repository:
            return f"{picture}[{words}]({repository}/{'raw' if picture else 'blob'}/main/{target})"
        return "" if picture else words

    return re.sub(r"\n{3,}", "\n\n", LINK.sub(replaced, text))


if __name__ == "__main__":
    from setuptools import setup  # here, as tests read the function above where distutils is another

    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    setup(
        long_description=long_description((ROOT / "README.md").read_text(encoding="utf-8"), urls.get("Repository")),
        long_description_content_type="text/markdown",
    )
