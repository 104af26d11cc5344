"""The patches of an OpenFOAM mesh: its ``boundary`` file."""

from __future__ import annotations

from typing import NamedTuple

from .foam_file import FoamFile


class Patch(NamedTuple):
    """A named run of boundary faces."""

    name: str
    kind: str
    first: int
    nfaces: int


def patches(file: FoamFile) -> list[Patch]:
    """The patches of a boundary file.

    Raises
    ------
    FormatError
        An entry is missing or no number, or the count is wrong.
    """
    words = file.tokens()
    words.append(("", len(file.data)))
    macros: dict[str, str] = {}
    at = 0
    while words[at][0] not in ("(", "") and not (words[at][0].isdecimal() and words[at + 1][0] == "("):
        if len(words) > at + 3 and words[at + 2][0] == ";":
            macros[words[at][0]] = words[at + 1][0]
            at += 3
        else:
            file.fail(f"expected the number of patches, found {words[at][0]!r}", words[at][1])
    count = None
    if words[at][0].isdecimal():
        count, at = int(words[at][0]), at + 1
    if words[at][0] != "(":
        file.fail("expected ( before the patches", words[at][1])
    at += 1
    out: list[Patch] = []
    while words[at][0] not in (")", ""):
        name, place = words[at]
        if words[at + 1][0] != "{":
            file.fail(f"expected {{ after the name of patch {name!r}", words[at + 1][1])
        entries, at = _entries(words, at + 2)
        if words[at][0] != "}":
            file.fail(f"patch {name}: is not closed, the file is truncated", place)
        at += 1
        values = []
        for key in ("startFace", "nFaces"):
            text = entries.get(key, "")
            text = macros.get(text.strip("${}:"), text) if text.startswith("$") else text
            if not text.isdecimal() or len(text) > 18:
                file.fail(f"patch {name}: {key} needs a whole number, has {text!r}", place)
            values.append(int(text))
        out.append(Patch(name, entries.get("type", "patch"), values[0], values[1]))
    if words[at][0] != ")":
        file.fail("the list of patches is not closed, the file is truncated", words[at][1])
    if count is not None and count != len(out):
        file.fail(f"{count} patches announced, {len(out)} found", words[at][1])
    return out


def _entries(words: list[tuple[str, int]], at: int) -> tuple[dict[str, str], int]:
    """First word of each entry up to the closing brace, dictionaries within passed over; and where that is."""
    entries: dict[str, str] = {}
    line: list[str] = []
    depth = 0
    while words[at][0] != "" and not (words[at][0] == "}" and depth == 0):
        word = words[at][0]
        depth += (word in "{(") - (word in "})")
        if depth == 0 and word in ";}":
            if len(line) > 1 and word == ";":
                entries[line[0]] = line[1]
            line = []
        else:
            line.append(word)
        at += 1
    return entries, at
