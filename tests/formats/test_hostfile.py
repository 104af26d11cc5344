"""Lists of hosts as launchers take them, beside those of the machines' tests."""

from __future__ import annotations

import pytest

from copart.cli import main
from copart.errors import FormatError, MappingError
from copart.formats.hostfile import read_hosts


def test_blanks_beside_the_equals_sign(tmp_path):
    (tmp_path / "hosts").write_text("n1 slots = 4\nn2 slots= 2 max_slots =4  # two\n")
    assert read_hosts(tmp_path / "hosts") == [("n1", 4), ("n2", 2)]


def test_a_rankfile_is_no_list_of_hosts(tmp_path):
    (tmp_path / "rankfile").write_text("rank 0=n1 slot=2\nrank 1=n2 slot=0\n")
    with pytest.raises(FormatError, match=":1: node list: '0=n1' behind host rank is not understood"):
        read_hosts(tmp_path / "rankfile")


@pytest.mark.parametrize(("names", "found"), [
    (["n1 4", "n[2-3]:2"], [("n1", 4), ("n2", 2), ("n3", 2)]), (["n1 4 n2 2"], [("n1", 4), ("n2", 2)]),
    (("n1,n2", "n3"), [("n1", None), ("n2", None), ("n3", None)]), (["n1", "n1", "n2"], [("n1", 2), ("n2", 1)])])
def test_entries_of_a_sequence_are_read_as_text_is(names, found):
    """Numbers behind hosts are slots; they were taken for hosts."""
    assert read_hosts(names) == found


def test_entries_that_are_no_hosts():
    with pytest.raises(MappingError, match="no name of a host"):
        read_hosts(["n1 slots=4"])


def test_words_for_one_of_a_kind(tmp_path, capsys):
    assert main(["machine", "info", "n1"]) == 0
    assert main(["grid", "--dims", "1x2", "--nodes", "2", "--stencil", "0,1"]) == 0
    (tmp_path / "pair.txt").write_text("0 1 100\n")
    assert main(["ranks", str(tmp_path / "pair.txt"), "--nodes", "1", "--slots", "2"]) == 0
    said = capsys.readouterr().out
    for words in ("1 processor on 1 host, ", "  1 slot\n", "(1 offset), 2 nodes of 1 process each",
                  "2 ranks on 1 node, 1 pair that talks"):
        assert words in said
