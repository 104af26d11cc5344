"""Long texts of VTU files, which are left out when the rest is parsed."""

from __future__ import annotations

import base64
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.mesh.readers.vtu_texts import Stretch, encoded_size, parsed, text_of

LONG = "0123456789 " * 200


def element(inner: str, name: str = "DataArray", more: str = "") -> str:
    return f'<{name} format="ascii"{more}>{inner}</{name}>'


@pytest.mark.parametrize(("inner", "kept"), [
    (element(LONG), 1),
    (element(LONG) + element("1 2") + element(LONG) + '<DataArray Name="a"/>' + element(LONG, "AppendedData"), 3),
    (element("1 2"), 0),
    (f"<Piece>{element(LONG)}</Piece>{element('')}", 1),
    # texts that stand for others, and parts that are no elements
    (element(LONG + "&amp;"), 0),
    (element(f"<![CDATA[{LONG}]]>"), 0),
    (element(f"{LONG}<Key>1</Key>"), 0),
    (element(LONG, more=' Name="a>b"') + element(LONG), 1),
    (element(LONG, more=""" Name="it's" """), 0),
    (f"<!-- {element(LONG)} -->" + element("1"), 0),
    (element(LONG, "DataArrays"), 0),
    ("<!-- <DataArray -->" + element(LONG), 0),
])
def test_texts_are_those_of_the_whole_file(inner, kept):
    raw = f'<?xml version="1.0"?><VTKFile>{inner}</VTKFile>'.encode()
    root, texts = parsed(raw)
    whole = ElementTree.fromstring(raw)
    assert len(texts) == kept
    for one, other in zip(root.iter(), whole.iter(), strict=True):
        assert (one.tag, one.attrib) == (other.tag, other.attrib)
        assert text_of(one, texts).text() == (other.text or "")


@pytest.mark.parametrize("raw", [f"<VTKFile>{element(LONG)}", f"<VTKFile>{element(LONG)}</Other>",
                                 f"<VTKFile><DataArray>{LONG}", f"<VTKFile><DataArray {LONG}"])
def test_what_is_not_well_formed_is_refused(raw):
    with pytest.raises(ElementTree.ParseError):
        parsed(raw.encode())


@given(st.binary(max_size=60), st.integers(0, 60), st.integers(0, 60), st.sampled_from(["", "\n", " \r\n\t"]))
def test_bytes_in_base64(data, start, size, white):
    """From any letter that begins a group of four on; white space among them counts as nothing."""
    start = start // 3 * 3
    coded = base64.b64encode(data).decode()
    raw = (white + "<" + white + white.join([coded[:5], coded[5:]]) + white).encode()
    stretch = Stretch(raw, len(white) + 1, len(raw)).stripped()
    assert stretch.text() == coded
    assert bytes(stretch.decoded(encoded_size(start), size)) == data[start:start + size]
    assert bytes(stretch.bytes_from(start, size)) == coded[start:start + size].encode()


def test_a_mark_before_base64():
    raw = b"xx_abc"
    assert Stretch(raw, 2, 6).after(b"_").text() == "abc"
    assert Stretch(raw, 3, 6).after(b"_").text() == "abc"
