"""What pyproject.toml cannot say: extension modules, and README.md without links as the description on an index."""

import re
import sys
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

    sys.path.insert(0, str(ROOT))
    from build_loops import OPTIONS, BuildLoops, extensions

    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    setup(
        long_description=long_description((ROOT / "README.md").read_text(encoding="utf-8"), urls.get("Repository")),
        long_description_content_type="text/markdown",
        cmdclass={"build_ext": BuildLoops},
        ext_modules=extensions(),
        options=OPTIONS,
    )
