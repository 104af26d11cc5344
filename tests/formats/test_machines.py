"""Machines from the files of real ones: hwloc, Slurm, hostfiles, hierarchies; and `copart machine info`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.cli import main
from copart.errors import ConfigError, CopartError, FormatError, MappingError
from copart.formats.hostfile import expand, read_hosts
from copart.formats.hwloc import read_hwloc
from copart.formats.machines import read_machine
from copart.formats.scotch_target import read_target
from copart.mapping.architectures.regular import Torus
from copart.mapping.machine import Machine, machine

from ..helpers import shared

TREE = """\
# one line may define several switches
SwitchName=leaf[1-2] Nodes=n[1-2] LinkSpeed=100
SwitchName=top Switches=mid,leaf3
"""
CONF = """\
SwitchName=s1 Nodes=n[001-004]   # a comment
SwitchName=s2 Nodes=n[005-008] LinkSpeed=100
SwitchName=s3 nodes=n009

switchname=top Switches=s[1-3]
"""
YAML = """\
- topology: blocks
  block:
    block_sizes: [2, 4]
    blocks:
      - {block: b1, nodes: "n[1-2]"}
      - {block: b2, nodes: "n[3-4]"}
      - {block: b3, nodes: "n[5-6]"}
- topology: network
  cluster_default: true
  tree:
    switches:
      - {switch: top, children: "s[1-2]"}
      - switch: s1
        nodes: n[1-3]
      - switch: s2
        nodes: n[4-6]
- topology: nothing
  flat: true
"""


@pytest.fixture
def file(tmp_path):
    def write(text, name="topology.conf"):
        (tmp_path / name).write_text(text)
        return tmp_path / name
    return write


# ---- hwloc

@pytest.mark.parametrize(("name", "cores", "threads", "levels", "first"), [
    ("16em64t-4s2c2t", 8, 16, ("package", "core"), [0, 8, 4, 12, 1, 9]),
    ("16em64t-4s2c2t-offlines", 6, 7, ("package", "core"), [0, 4, 12, 1, 6, 3]),
    ("192em64t-12gr2n8c2t", 192, 384, ("group", "package", "core"), [0, 192, 1, 193, 2, 194]),
    ("24em64t-2n6c2t-pci", 12, 24, ("package", "core"), [0, 12, 2, 14, 4, 16]),
    ("fakecpukinds", 2, 4, ("core",), [0, 2, 1, 3]),
    ("irregulargroups-disallowed", 16, 16, ("package", "core"), [0, 1, 2, 3, 4, 5])])
def test_topologies_of_real_hosts(name, cores, threads, levels, first):
    path = shared(f"data/machines/{name}.xml")
    found = read_machine(path)
    assert (found.nprocs, found.levels, len(found.hosts)) == (cores, levels, 1)
    found = read_machine(path, unit="pu")
    assert found.nprocs == threads
    assert found.unit[:6].tolist() == first
    assert len(set(found.unit.tolist())) == threads


def test_distances_inside_a_host():
    """Two packages of six cores of two threads: 1 in a core, 2 in a package, 3 between."""
    found = read_machine(shared("data/machines/24em64t-2n6c2t-pci.xml"), unit="pu")
    values, count = np.unique(found.architecture.matrix()[0], return_counts=True)
    assert dict(zip(values.tolist(), count.tolist(), strict=True)) == {0: 1, 1: 1, 2: 10, 3: 12}
    # the file says which thread is where: 0 and 12 are the two of one core
    place = {int(number): p for p, number in enumerate(found.unit)}
    assert found.architecture.distances(place[0], place[12]) == 1
    assert found.architecture.distances(place[0], place[1]) == 3


HWLOC_1 = """<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc.dtd"><topology>
<object type="Machine" os_index="0" cpuset="0xf" online_cpuset="0x7" allowed_cpuset="0xf">
 <info name="HostName" value="old"/>
 <object type="NUMANode" os_index="0" cpuset="0x3"><object type="Socket" os_index="0" cpuset="0x3">
  <object type="Cache" depth="2" cpuset="0x3">
   <object type="Core" os_index="0"><object type="PU" os_index="0" cpuset="0x1"/></object>
   <object type="Core" os_index="1"><object type="PU" os_index="1" cpuset="0x2"/></object></object></object></object>
 <object type="NUMANode" os_index="1" cpuset="0xc"><object type="Socket" os_index="1" cpuset="0xc">
  <object type="Cache" depth="2" cpuset="0xc">
   <object type="Core" os_index="0"><object type="PU" os_index="2" cpuset="0x4"/></object>
   <object type="Core" os_index="1"><object type="PU" os_index="3" cpuset="0x8"/></object></object></object></object>
</object></topology>"""


def test_the_older_generation_of_files(file):
    """NUMA nodes around the packages, caches by depth, processors that are offline."""
    names, (inside,) = read_hwloc(file(HWLOC_1, "old.xml"), "pu")
    assert names == ["old"]
    assert inside.unit.tolist() == [0, 1, 2]
    assert inside.levels == ("NUMA node", "package", "L2 cache", "core", "pu")
    found = read_machine(file(HWLOC_1, "old.xml"))
    assert found.levels == ("package", "core")
    assert found.architecture.distances(0, [1, 2]).tolist() == [1, 2]


@pytest.mark.parametrize(("text", "match"), [
    ("<topology", "is no XML"),
    ("<html/>", "is no hwloc topology: the outermost element is 'html'"),
    ("<topology/>", "no object of type Machine"),
    ('<topology><object type="Machine"/></topology>', "leaves no processor of machine 0"),
    (HWLOC_1.replace('online_cpuset="0x7"', 'online_cpuset="0x0"'), "offline or not allowed"),
    (HWLOC_1.replace('os_index="3"', 'os_index="three"'), "os_index of a PU must be a whole number"),
    (HWLOC_1.replace('allowed_cpuset="0xf"', 'allowed_cpuset="0xzz"'), "must be hexadecimal"),
    ('<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]><topology>&a;</topology>', "declares entities"),
    ('<!DOCTYPE t [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><topology>&c;</topology>', "declares entities")])
def test_refused_topologies(file, text, match):
    with pytest.raises(FormatError, match=match):
        read_machine(file(text, "m.xml"))


# ---- Slurm

def test_topology_conf(file):
    found = read_machine(file(CONF))
    assert found.hosts == tuple(f"n{i:03}" for i in range(1, 10))
    assert found.levels == ("switch", "node")
    assert found.architecture.distances(0, [1, 3, 4, 8]).tolist() == [10, 10, 20, 20]


def test_hosts_of_a_job_in_the_order_of_its_list(file):
    found = read_machine(file(CONF), nodes="n008,n[001-002]", slots=2)
    assert found.hosts == ("n008", "n001", "n002")
    assert [found.slot(p) for p in (0, 1, 5)] == [("n008", 0), ("n008", 1), ("n002", 1)]
    assert found.architecture.distances(0, [1, 2, 5]).tolist() == [1, 20, 20]
    assert found.architecture.distances(2, [3, 4]).tolist() == [1, 10]
    assert found.architecture.name == "sub"


def test_hosts_of_a_job_with_their_own_slots(file):
    found = read_machine(file(CONF), nodes=file("n001 slots=3\nn005 slots=1\n", "hosts"))
    assert found.slots.tolist() == [3, 1]
    assert found.architecture.distances(0, [2, 3]).tolist() == [1, 20]


def test_network_and_inside_together():
    found = read_machine(shared("data/machines/small-tree.yaml"), nodes="I36,I21",
                         host=shared("data/machines/24em64t-2n6c2t-pci.xml"))
    assert (found.nprocs, found.levels) == (24, ("switch", "node", "package", "core"))
    assert found.slot(12) == ("I21", 0)
    assert found.unit[:3].tolist() == found.unit[12:15].tolist() == [0, 8, 2]
    assert found.architecture.distances(0, [1, 6, 12]).tolist() == [1, 2, 20]


@pytest.mark.parametrize(("name", "hosts", "values"), [
    ("small-tree", 6, {10, 20}), ("medium", 8, {10, 20, 30}), ("nvl72", 72, {10, 20, 30}),
    ("dual-xclr-irregular", 255, {10, 20, 30})])
def test_cluster_models(name, hosts, values):
    found = read_machine(shared(f"data/machines/{name}.yaml"))
    assert len(found.hosts) == found.nprocs == hosts
    off = ~np.eye(hosts, dtype=bool)
    assert set(found.architecture.matrix()[off]) == values


def test_irregular_racks():
    """Node 31 and 33 are missing from their rack; 28 and 36 are still beside each other, 27 is in no rack at all."""
    found = read_machine(shared("data/machines/dual-xclr-irregular.yaml"))
    assert not {"node0031", "node0033", "node0027"} & set(found.hosts)
    at = found.hosts.index
    assert found.architecture.distances(at("node0028"), [at("node0036"), at("node0037"), at("node0288")]).tolist() == [
        10, 20, 30]


def test_topology_yaml(file):
    path = file(YAML, "topology.yaml")
    found = read_machine(path)
    assert found.levels == ("switch", "node")
    assert found.architecture.distances(0, [2, 3]).tolist() == [10, 20]
    found = read_machine(path, topology="blocks")
    assert found.levels == ("block of 4", "block", "node")
    assert found.architecture.distances(0, [1, 2, 4]).tolist() == [10, 20, 30]
    with pytest.raises(FormatError, match="holds no topology others; it has blocks, network, nothing"):
        read_machine(path, topology="others")
    with pytest.raises(FormatError, match="topology nothing is of no kind that tells distances"):
        read_machine(path, topology="nothing")


def test_blocks_in_topology_conf(file):
    found = read_machine(file("BlockName=a Nodes=n[1-4]\nBlockName=b Nodes=n[5-8]\nBlockSizes=4\n"))
    assert found.architecture.distances(0, [3, 4]).tolist() == [10, 20]


def test_branches_of_unequal_depth(file):
    found = read_machine(file("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=m[1-2]\nSwitchName=c Switches=b\n"
                              "SwitchName=top Switches=a,c\n"))
    names = dict(zip(found.hosts, range(4), strict=True))
    assert found.architecture.distances(names["n1"], [names["n2"], names["m1"]]).tolist() == [10, 20]


@pytest.mark.parametrize(("text", "match"), [
    ("SwitchName=a Switches=b\nSwitchName=b Switches=c\nSwitchName=c Switches=a\n",
     ":1: switches form a cycle: a -> b -> c -> a"),
    ("SwitchName=a Switches=a\n", "cycle: a -> a"),
    ("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n", "nothing leads from switch a .node n1. to switch b"),
    ("SwitchName=a Nodes=n1\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n", "below both b and c"),
    ("SwitchName=a Nodes=n1,n1\n", "node n1 is below more than one switch"),
    ("SwitchName=a Switches=b\n", ":1: switch a leads to switch b, which is not defined"),
    ("SwitchName=a Switches=b Nodes=n1\n", "has switches and nodes"),
    ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", ":2: switch a is defined more than once"),
    ("SwitchName=a Nodes=n[1-\n", "brackets do not match"),
    ("SwitchName=a Nodes=n[1-99999999]\n", "at most"),
    ("SwitchName=a\n", "holds no nodes"),
    ("SwitchName=a Nodes\n", "needs Key=Value"),
    ("SwitchName=a Nodes=n1\nRing=b\n", "unknown key 'Ring'"),
    ("BlockName=a Nodes=n1\nBlockName=b Nodes=n1\n", "node n1 is in more than one block"),
    ("BlockName=a Nodes=n1\nBlockSizes=4,6\n", "must divide the next"),
    (TREE, ":3: switch top leads to switch mid, which is not defined")])
def test_refused_networks(file, text, match):
    with pytest.raises(FormatError, match=match):
        read_machine(file(text))


@pytest.mark.parametrize("text", ["a: [1", "- 3\n", "switches: {a: 3}\n", "switches: {a: {switches: [a]}}\n", "3\n",
                                  "- topology: x\n  tree: {switches: [{children: b}]}\n", "- topology: x\n  block: 3\n",
                                  "switches: {a: {switches: [b]}, b: {switches: [a]}}\nblocks: []\n",
                                  "- topology: x\n  block: {blocks: [{block: b, nodes: n1}, {block: b}]}\n"])
def test_refused_yaml(file, text):
    with pytest.raises(FormatError):
        read_machine(file(text, "m.yaml"))


def test_hosts_that_the_topology_does_not_know(file):
    with pytest.raises(MappingError, match="2 of 3 hosts of the node list are not part of the machine, first 'x1'"):
        read_machine(file(CONF), nodes="n001,x[1-2]")


def test_short_and_long_host_names(file):
    found = read_machine(file(CONF), nodes=["n003.cluster.org", "n001"])
    assert found.hosts == ("n003.cluster.org", "n001")


# ---- hostfiles

@pytest.mark.parametrize(("text", "wanted"), [
    ("n1 slots=4\nn2 slots=2 max_slots=8\n", {"n1": 4, "n2": 2}),
    ("n1:4\nn2:2\n", {"n1": 4, "n2": 2}),
    ("n1\nn1\nn2\nn1\n", {"n1": 3, "n2": 1}),
    ("# job\nn1\n\nn2  # second\n", {"n1": None, "n2": None}),
    ("n1 4 all.q@n1 UNDEFINED\nn2 2 all.q@n2 UNDEFINED\n", {"n1": 4, "n2": 2}),
    ("hostA 4 hostB 2\n", {"hostA": 4, "hostB": 2}),
    ("n[001-002,7]:3\n", {"n001": 3, "n002": 3, "n7": 3}),
    ("n1 slots=2\nn1 slots=3\n", {"n1": 5})])
def test_hostfiles(file, text, wanted):
    assert dict(read_hosts(file(text, "hosts"))) == wanted


def test_a_line_of_slots_as_text():
    """As in $LSB_MCPU_HOSTS; numbers behind commas are names."""
    assert dict(read_hosts("hostA 4 hostB 2")) == {"hostA": 4, "hostB": 2}
    assert dict(read_hosts("n[1,3] 4 m 2")) == {"n1": 4, "n3": 4, "m": 2}
    assert list(dict(read_hosts("a,4,b"))) == ["a", "4", "b"]


def test_slots_of_hosts_that_say_theirs():
    with pytest.raises(MappingError, match="slots: has no effect"):
        read_machine("n[1-2]:4", slots=3)


@pytest.mark.parametrize(("text", "match"), [
    ("n1 slots=0\n", ":1: node list: a number of slots must be at least 1"), ("n1\nn2:x\n", ":2: .*is 'x'"),
    ("n1 what\n", "not understood"), ("n[3-1]\n", "must rise"), ("n[a-b]\n", "must hold numbers"),
    ("", "names no host"),
    pytest.param("n1:" + 5000 * "9", "a number of slots must be", id="slots"),
    pytest.param(f"n[1-{5000 * '9'}]", "must hold numbers and ranges", id="range"),
    ("n]1\n", "brackets"), ("n!\n", "no name of a host"), ("\n# nothing\n", "names no host")])
def test_refused_hostfiles(file, text, match):
    with pytest.raises(FormatError, match=match):
        read_hosts(file(text, "hosts"))


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 40), st.integers(1, 5)), min_size=1, max_size=4))
def test_ranges(items):
    text = ",".join(f"{low:0{width}}-{low + more:0{width}}" for low, more, width in items)
    wanted = [f"n{i:0{width}}x" for low, more, width in items for i in range(low, low + more + 1)]
    assert expand(f"n[{text}]x") == wanted


def test_node_list_alone():
    found = read_machine("n[001-004,7]", slots=2)
    assert found.hosts == ("n001", "n002", "n003", "n004", "n7")
    assert found.architecture.distances(0, [1, 2]).tolist() == [1, 10]
    assert read_machine("a:3,b:1").slots.tolist() == [3, 1]


@pytest.mark.parametrize("name", ["topolgy.conf", "nodes.TXT", "m.xml", "rack.tgt"])
def test_a_file_that_is_not_there_is_no_host(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match="no such file"):
        read_machine(name)


def test_a_list_may_be_longer_than_the_name_of_a_file(file):
    hosts = f"n[{','.join(f'{2 * i:04d}' for i in range(60))}]"
    assert len(hosts) > 255
    assert read_machine(hosts, slots=2).nprocs == 120
    assert read_machine(file("SwitchName=s1 Nodes=n[0000-0200]\n", "topology.conf"), nodes=hosts).nprocs == 60


@pytest.mark.parametrize("text", ["SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n3\nSwitchName=t Switches=s[1-2]\n",
                                  "torus 3 3\nn1 0 0\nn2 0 1\nn3 1 1\n"])
@pytest.mark.parametrize("nodes", ["n1:4,n3:2", "n1.c.org:4,n3.c.org:2"])
def test_slots_of_hosts_by_their_full_names(file, text, nodes):
    name = "m.csv" if text.startswith("torus") else "topology.conf"
    assert read_machine(file(text, name), nodes=nodes).slots.tolist() == [4, 2]


def test_one_topology_for_a_list_of_hosts():
    path = shared("data/machines/fakecpukinds.xml")
    found = read_machine(path, nodes="a,b:1,c", unit="pu")
    assert found.slots.tolist() == [4, 1, 4]
    assert found.architecture.distances(0, [1, 2, 4]).tolist() == [1, 2, 10]
    assert found.unit.tolist() == [0, 2, 1, 3, 0, 0, 2, 1, 3]
    with pytest.raises(MappingError, match="host a is to take 9 processes but has 2 slots"):
        read_machine(path, nodes="a:9")


# ---- hierarchies and bare architectures

def test_hierarchy_innermost_first():
    found = read_machine(hierarchy="4:8:6", distance="1:10:100")
    assert found.architecture.arities == (6, 8, 4)
    assert found.slots.tolist() == [32] * 6
    assert found.architecture.distances(0, [3, 4, 31, 32]).tolist() == [1, 10, 10, 100]
    assert read_machine(hierarchy="4:2", nodes="x,y").slot(5) == ("y", 1)


@pytest.mark.parametrize(("arguments", "match"), [
    ({"hierarchy": "4:x"}, "whole numbers separated by colons"), ({"hierarchy": "4:0"}, "at least 1"),
    ({"hierarchy": "4:2", "distance": "1"}, "one number per level of the hierarchy, 2, has 1"),
    ({"hierarchy": "4:2", "distance": "1:-3"}, "at least 0"), ({}, "either a file or node list, or a hierarchy"),
    ({"source": "n1", "hierarchy": "2"}, "either a file"), ({"source": "n1", "unit": "socket"}, "one of core, pu"),
    ({"source": "n[1-2]", "distance": "1:2:3"}, "innermost first, here 1 .node., has 3"),
    ({"source": "n1", "nodes": "n1"}, "node list already"), ({"source": "n1", "vertices": [1]}, "give hosts as nodes"),
    ({"source": "n1", "slots": 0}, "slots: must be at least 1")])
def test_refused_arguments(arguments, match):
    with pytest.raises(ConfigError, match=match):
        read_machine(**arguments)


def test_target_file_with_names(file):
    path = file("mesh2D 3 2\n", "m.tgt")
    found = read_machine(path, nodes="a:2,b:4")
    assert found.slot(3) == ("b", 1)
    with pytest.raises(MappingError, match="offers 2 slots, the machine has 6"):
        read_machine(path, nodes="a,b")
    with pytest.raises(MappingError, match="no named hosts"):
        read_machine(path).slot(0)
    assert read_machine(path, vertices=[5, 0]).architecture.distances(0, 1) == 3


def test_a_graph_as_a_machine(file):
    path = file("4 3\n2\n1 3\n2 4\n3\n", "network.graph")
    assert read_machine(path, vertices=[0, 3]).architecture.distances(0, 1) == 3
    with pytest.raises(FormatError, match="not connected"):
        read_machine(file("4 2\n2\n1\n4\n3\n", "pieces.graph"))


def test_machine_values_are_checked():
    with pytest.raises(MappingError, match="a is named more than once"):
        Machine(Torus([4]), ["a", "a"], [0, 0, 1, 1])
    with pytest.raises(MappingError, match="one of the 2 hosts for each of 4"):
        Machine(Torus([4]), ["a", "b"], [0, 1, 2, 0])
    found = Machine(Torus([4]), ["a", "b"], [0, 1, 0, 1])
    assert found.local.tolist() == [0, 0, 1, 1]
    assert found.on(["b"]).architecture.distances(0, 1) == 2
    assert machine("8").hosts == ("node0",)


# ---- command line

def test_info(capsys, file, tmp_path):
    target = tmp_path / "m.tgt"
    given = ["--nodes", "n[001-005]", "--slots", "2", "--tgt", str(target)]
    assert main(["machine", "info", str(file(CONF)), *given]) == 0
    out = capsys.readouterr().out
    assert "10 processors on 5 hosts" in out
    assert "n005  2 slots" in out
    assert read_target(target).nprocs == 10


def test_info_as_json(capsys):
    assert main(["machine", "info", "--hierarchy", "2:3:4", "--distance", "1:5:9", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(level["sons"], level["distance"]) for level in found["levels"]] == [(4, 9), (3, 5), (2, 1)]
    assert [host["slots"] for host in found["hosts"]] == [6] * 4
    assert sum(row["share"] for row in found["distances"]) == pytest.approx(1)
    assert found["distances"][0] == {"distance": 1.0, "share": pytest.approx(1 / 23)}


def test_info_refuses_in_one_line(capsys, file):
    assert main(["machine", "info", str(file("SwitchName=a Switches=a\n"))]) == 2
    err = capsys.readouterr().err
    assert err.startswith("copart machine: ")
    assert err.count("\n") == 1


def test_every_outside_description_is_read_or_refused():
    folder = shared("data/machines")
    files = [*folder.iterdir(), *shared("data/targets").glob("*.tgt")]
    assert len(files) > 20
    refused = []
    for path in files:
        try:
            found = read_machine(path)
        except CopartError:
            refused.append(path.name)
        else:
            assert found.nprocs >= 1
    assert sorted(refused) == ["vcmplt.tgt", "vhcub.tgt"]
