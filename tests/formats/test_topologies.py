"""Slurm's topologies as its own parser reads them, and what other options mean beside them."""

from __future__ import annotations

import pytest

from copart.errors import FormatError
from copart.formats.machines import read_machine


@pytest.fixture
def conf(tmp_path):
    def write(text, name="topology.conf"):
        (tmp_path / name).write_text(text)
        return tmp_path / name
    return write


def test_blanks_quotes_and_lines_that_go_on(conf):
    found = read_machine(conf('SwitchName = s1 \\\n  Nodes= "n[1-2]"\nSwitchName=s2 Nodes=n3,\\\nn4 # two lines\n'
                              "\nSwitchName=top Switches =s[1-2]  # all\n"))
    assert found.hosts == ("n1", "n2", "n3", "n4")
    assert found.architecture.distances(0, [1, 2, 3]).tolist() == [10, 20, 20]


def test_errors_name_the_line_where_an_entry_begins(conf):
    with pytest.raises(FormatError, match="topology.conf:2: needs Key=Value, found 'SwitchName=s1 Nodes'"):
        read_machine(conf("# nodes\nSwitchName=s1 \\\nNodes\n"))
