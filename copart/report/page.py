"""The page itself: one HTML file that needs nothing else, neither a network nor fonts nor scripts from elsewhere."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from ..formats import prepare_folder
from ..formats.output import write_text_atomic
from ..metrics.columns import Column, html_table, title_html


@dataclass(frozen=True)
class Section:
    """A titled piece of the page; `key` is its anchor."""

    key: str
    title: str
    body: str


def document(title: str, subtitle: str, sections: Sequence[Section], about: str, schemes: Sequence[str] = (),
             shown: str = "") -> str:
    """The whole page.

    Parameters
    ----------
    title, subtitle : str
    sections : sequence of Section
        Empty ones are left out.
    about : str
        How the result was made, for the last line.
    schemes : sequence of str
        Schemes to choose from, where panels of several are on the page.
    shown : str
        The one that shows first.
    """
    home = files("copart.report")
    there = [s for s in sections if s.body]
    links = "".join(f'<a href="#{s.key}">{escape(s.title)}</a>' for s in there)
    body = "".join(f'<section id="{s.key}"><h2>{escape(s.title)}</h2>{s.body}</section>' for s in there)
    choice = _choice(schemes, shown)
    # what stands outside of header, main and footer has to be in a landmark of its own
    landmark = ' role="region" aria-label="what is shown"' if choice else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{home.joinpath('page.css').read_text('utf-8')}</style></head><body>"
        f'<header><h1>{escape(title)}</h1><p class="faint">{escape(subtitle)}</p></header>'
        f'<div class="bar"{landmark}><div><nav aria-label="sections">{links}</nav>{choice}</div></div>'
        f"<main>{body}</main><footer>{escape(about)}</footer>"
        f"<script>{home.joinpath('page.js').read_text('utf-8')}</script></body></html>\n")


def command_line() -> str | None:
    """The command that runs, as one types it; None in Python."""
    program = Path(sys.argv[0])
    if program.name == "copart" or program.parts[-2:] == ("copart", "__main__.py"):
        return f"copart {shlex.join(sys.argv[1:])}"
    return None


def _choice(schemes: Sequence[str], shown: str) -> str:
    if len(schemes) < 2:
        return ""
    radios = "".join(f'<label><input type="radio" name="scheme" value="{escape(s)}"{" checked" if s == shown else ""}>'
                     f"{escape(s)}</label>" for s in schemes)
    return f'<fieldset aria-label="scheme to show">{radios}</fieldset>'


def words(lines: Sequence[str]) -> str:
    """Sentences as a list."""
    return f'<ul class="words">{"".join(f"<li>{escape(line)}</li>" for line in lines)}</ul>' if lines else ""


def tiles(entries: Sequence[tuple[str, str]]) -> str:
    """Few figures in large type: (figure, what it is)."""
    boxes = "".join(f"<div><b>{escape(large)}</b><span>{escape(small)}</span></div>" for large, small in entries)
    return f'<div class="tiles">{boxes}</div>'


def table(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]], caption: str = "",
          best: frozenset[tuple[int, int]] = frozenset()) -> str:
    """A table that scrolls where it is too wide, with the meaning of every column below."""
    legend = "".join(f"<div><dt>{title_html(c.title)}</dt><dd>{escape(c.meaning)}</dd></div>" for c in columns)
    said = escape(caption or f"table by {columns[0].title}")
    return (f'<div class="scroll" tabindex="0" role="group" aria-label="{said}">'
            f'{html_table(columns, rows, best, caption)}</div><dl class="legend">{legend}</dl>')


def figure(title: str, note: str, svg: str, wide: bool = False) -> str:
    """A picture or chart with its title; wide ones scroll on a phone."""
    inner = f'<div class="wider" tabindex="0" role="group" aria-label="{escape(title)}">{svg}</div>' if wide else svg
    return f"<figure><figcaption><b>{escape(title)}</b>{escape(note)}</figcaption>{inner}</figure>"


def views(figures: Sequence[str], most: int = 3) -> str:
    """Figures side by side as far as there is room, at most `most` in a row."""
    return f'<div class="views most{most}">{"".join(figures)}</div>' if figures else ""


def panel(scheme: str, body: str) -> str:
    """What belongs to one of several schemes; the reader chooses which one shows."""
    return f'<div class="panel" data-scheme="{escape(scheme)}">{body}</div>'


def need_page(path: str | os.PathLike[str]) -> Path:
    """Refuse a page that cannot be written, before the work.

    Raises
    ------
    ConfigError
        `path` is a folder, does not end in ``.html``, or cannot be written to.
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise ConfigError(f"report: {os.fspath(path)!r} is to be an HTML page; give a name that ends in .html")
    if target.is_dir():
        raise ConfigError(f"report: {os.fspath(path)!r} is a folder; give the name of a file")
    prepare_folder(target.parent)
    return target


def write_page(path: str | os.PathLike[str], html: str) -> Path:
    """Write the page, complete or not at all; returns its path.

    Raises
    ------
    ConfigError, FormatError
        It cannot be written.
    """
    target = need_page(path)
    # names of files that are no UTF-8
    write_text_atomic(target, html.encode("utf-8", "replace").decode())
    return target


__all__ = ["Section", "document", "figure", "need_page", "panel", "table", "tiles", "views", "words", "write_page"]
