"""Long texts of XML files, which are arrays: they stay where they are, and the rest is parsed as XML."""

from __future__ import annotations

from binascii import a2b_base64
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

#: Elements whose text is looked at.
_ARRAYS = (b"DataArray", b"AppendedData")

#: Texts of so many bytes are long.
_LONG = 1000

_WHITE = b" \n\r\t"


class Stretch(NamedTuple):
    """So many bytes of a file."""

    raw: bytes
    first: int
    last: int

    @property
    def size(self) -> int:
        """How many."""
        return self.last - self.first

    def after(self, mark: bytes) -> Stretch:
        """Without a mark at its begin."""
        return self._replace(first=self.first + len(mark)) if self.raw.startswith(mark, self.first) else self

    def stripped(self) -> Stretch:
        """Without white space: the same bytes where that is around them alone."""
        raw, first, last = self
        while first < last and raw[first] in _WHITE:
            first += 1
        while first < last and raw[last - 1] in _WHITE:
            last -= 1
        if all(raw.find(bytes([one]), first, last) < 0 for one in _WHITE):
            return Stretch(raw, first, last)
        joined = b"".join(raw[first:last].split())
        return Stretch(joined, 0, len(joined))

    def text(self) -> str:
        """As text."""
        return self.raw[self.first:self.last].decode()

    def bytes_from(self, start: int, size: int) -> memoryview:
        """So many bytes from `start` on, or those that are there."""
        return memoryview(self.raw)[min(self.first + start, self.last):min(self.first + start + size, self.last)]

    def decoded(self, start: int, size: int) -> memoryview:
        """So many bytes, or those that are there, of the base64 that begins at `start`."""
        return memoryview(a2b_base64(self.bytes_from(start, encoded_size(size))))[:size]


Texts = dict[Element, Stretch]


def encoded_size(size: int) -> int:
    """How many stand for so many bytes in base64."""
    return -(-size // 3) * 4


def parsed(raw: bytes) -> tuple[Element, Texts]:
    """The root of XML, and the long texts of arrays, which have been left out of it.

    Raises
    ------
    xml.etree.ElementTree.ParseError
        It is not well-formed.
    """
    kept: list[bytes | memoryview] = []
    found: list[Stretch | None] = []
    whole = memoryview(raw)
    done, at = 0, raw.find(b"<")
    while at >= 0:
        after = at + 1
        name = next((name for name in _ARRAYS if raw.startswith(b"<" + name, at)), None)
        if name is not None and (end := raw.find(b">", at)) >= 0:
            text, after = _text(raw, at, end, name), end
            found.append(text)
            if text is not None:
                kept.append(whole[done:text.first])
                done = after = text.last
        at = raw.find(b"<", after)
    if not kept:
        return ElementTree.fromstring(raw), {}
    try:
        root = ElementTree.fromstring(b"".join([*kept, whole[done:]]))
    except ElementTree.ParseError:
        # said of the file as it is
        return ElementTree.fromstring(raw), {}
    names = [name.decode() for name in _ARRAYS]
    elements = [element for element in root.iter() if element.tag in names]
    if len(elements) != len(found):
        # what looked like elements stands in comments
        return ElementTree.fromstring(raw), {}
    return root, {element: text for element, text in zip(elements, found, strict=True) if text is not None}


def _text(raw: bytes, at: int, end: int, name: bytes) -> Stretch | None:
    """The text of the element whose first tag is raw[at:end + 1], if it is long, and nothing but text."""
    tag = raw[at:end]
    # a quoted > is none
    if tag.endswith(b"/") or tag.count(b'"') % 2 or tag.count(b"'") % 2:
        return None
    first = end + 1
    last = raw.find(b"<", first)
    if last - first < _LONG or not raw.startswith(b"</" + name, last) or raw.find(b"&", first, last) >= 0:
        return None
    return Stretch(raw, first, last)


def text_of(element: Element, texts: Texts) -> Stretch:
    """The text of an element."""
    if element in texts:
        return texts[element]
    text = (element.text or "").encode()
    return Stretch(text, 0, len(text))


__all__ = ["Stretch", "Texts", "encoded_size", "parsed", "text_of"]
