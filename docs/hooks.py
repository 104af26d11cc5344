"""What mkdocs does to a page when it is made.

Roles of docstrings, which only Sphinx knows, give way to plain code; what the theme would fetch from elsewhere for the
search on pages that are read from disk is a script of our own.
"""

from __future__ import annotations

import re
from typing import Any

ROLE = re.compile(r":(?:func|class|meth|mod|data|attr|exc):(?=<code>)")
ELSEWHERE = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"></script>')


def on_page_content(html: str, **context: Any) -> str:
    """Called by mkdocs with the page's HTML."""
    return ROLE.sub("", html)


def on_post_page(output: str, page: Any, **context: Any) -> str:
    """Called by mkdocs with the whole page."""
    return ELSEWHERE.sub(f'<script src="{"../" * page.url.count("/")}offline.js"></script>', output)


def on_post_template(output_content: str, **context: Any) -> str:
    """Called by mkdocs with pages that are no documents, as the one for wrong addresses, which no disk has."""
    return ELSEWHERE.sub("", output_content)
