"""Links within the site that was built, with their anchors: ``python docs/_ext/check_links.py site``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {"a": "href", "img": "src", "link": "href", "script": "src"}


class Page(HTMLParser):
    """Anchors and links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record name and target of a tag."""
        given = {name: value for name, value in attrs if value}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if LINKS.get(tag) in given:
            self.links.append(given[LINKS[tag]])


page = cache(Page)


def broken(site: Path) -> Iterator[str]:
    """Links that lead to no file, or to no anchor of a page."""
    for path in sorted(site.resolve().rglob("*.html")):
        for link in page(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment) if target.suffix == ".html" else ""
            if not target.exists() or (anchor and anchor not in page(target).anchors):
                yield f"{path.relative_to(site.resolve())}: {link}"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    found = list(broken(folder))
    count = sum(len(page(path).links) for path in folder.resolve().rglob("*.html"))
    print(*found, f"{count} links, {len(found)} broken", sep="\n")
    sys.exit(bool(found))
