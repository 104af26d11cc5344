"""What mkdocs does to a page when it is made: roles of docstrings, which only Sphinx knows, give way to plain code."""

from __future__ import annotations

import re
from typing import Any

ROLE = re.compile(r":(?:func|class|meth|mod|data|attr|exc):(?=<code>)")


def on_page_content(html: str, **context: Any) -> str:
    """Called by mkdocs with the page's HTML."""
    return ROLE.sub("", html)
