"""Slurm's topologies as its own parser reads them, and what other options mean beside them."""

from __future__ import annotations

import pytest

from copart.errors import ConfigError, FormatError, MappingError
from copart.formats.machines import read_machine

NODE = """<topology version="2.0"><object type="Machine">
<object type="Package" os_index="0"><object type="Core" os_index="0"><object type="PU" os_index="0"/></object>
<object type="Core" os_index="1"><object type="PU" os_index="1"/></object></object>
<object type="Package" os_index="1"><object type="Core" os_index="0"><object type="PU" os_index="2"/></object>
<object type="Core" os_index="1"><object type="PU" os_index="3"/></object></object>
</object></topology>
"""
TREE = "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n3\nSwitchName=top Switches=s[1-2]\n"


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
    with pytest.raises(FormatError, match=r"topology\.conf:2: needs Key=Value, found 'SwitchName=s1 Nodes'"):
        read_machine(conf("# nodes\nSwitchName=s1 \\\nNodes\n"))


def test_slots_of_hosts_whose_cores_are_described(conf):
    """With all nodes as with those of a list, and no more than there are cores."""
    tree, node = conf(TREE), conf(NODE, "node.xml")
    found = read_machine(tree, host=node, slots=3)
    assert found.slots.tolist() == [3, 3, 3]
    assert found.architecture.distances(0, [1, 2, 3, 6]).tolist() == [1, 2, 10, 20]
    assert read_machine(tree, host=node).nprocs == 12
    assert read_machine(tree, host=node, slots=3, nodes="n[1-3]").unit.tolist() == found.unit.tolist()
    with pytest.raises(MappingError, match="host n1 is to take 5 processes but has 4 slots"):
        read_machine(tree, host=node, slots=5)


def test_hierarchies_of_more_processors_than_are_numbered():
    with pytest.raises(MappingError, match="hierarchy: 4000000000 processors are more than the 2147483647"):
        read_machine(hierarchy="2000000000:2")


@pytest.mark.parametrize(("text", "name"), [
    (TREE, "topology.conf"),
    ("switches: {top: {switches: [s1]}}\nblocks: [{switch: s1, nodes: 'n[1-2]'}]\n", "m.yaml")])
def test_files_of_one_topology_take_no_name_of_one(conf, text, name):
    if name.endswith(".yaml"):
        pytest.importorskip("yaml", reason="PyYAML is not installed (extra machine)")
    assert read_machine(conf(text, name)).hosts
    with pytest.raises(ConfigError, match=f"topology: has no effect on .*{name}, which holds one topology"):
        read_machine(conf(text, name), topology="network")
