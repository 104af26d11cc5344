"""Lists of coordinates: nodes in tori, meshes, dragonflies and fat trees."""

from __future__ import annotations

import json

import numpy as np
import pytest

from copart.cli import main
from copart.errors import ConfigError, FormatError, MappingError
from copart.formats.coordinates import read_coordinates
from copart.formats.machines import read_machine
from copart.mapping.congestion import Dragonfly, FatTree, TorusNetwork
from copart.mapping.sites import Sites

CRAY = """\
# nodes of a job on a torus of 17 x 8 x 24 routers, two nodes each
torus 17 8 24
bandwidth 9.4 4.7 9.4
node x y z slots
nid00012 3 0 7 16
nid00013 3 0 7 16
nid00100 16 7 23 8
"""


@pytest.fixture
def file(tmp_path):
    def write(text, name="job.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name
    return write


def test_nodes_of_a_torus(file):
    found = read_machine(file(CRAY))
    sites = Sites(found)
    assert found.hosts == ("nid00012", "nid00013", "nid00100")
    assert found.slots.tolist() == [16, 16, 8]
    assert isinstance(found.network, TorusNetwork)
    assert sites.coordinates.tolist() == [[3, 0, 7], [3, 0, 7], [16, 7, 23]]
    assert sites.distances(0, np.arange(3)).tolist() == [0, 0, 4 + 1 + 8]
    assert found.network.bandwidth[found.network.route(0, 17)].tolist() == [4.7]
    # told by its content, whatever its name
    assert read_machine(file(CRAY, "job.txt")).slots.tolist() == [16, 16, 8]


def test_six_dimensions(file):
    """As of TofuD: x, y, z and the groups of 2 x 3 x 2."""
    text = "torus,4,3,5,2,3,2\nhost,x,y,z,a,b,c\nh1,0,0,0,0,0,0\nh2,3,2,4,1,2,1\n"
    sites = Sites(read_machine(file(text), slots=4))
    assert sites.slots.tolist() == [4, 4]
    assert sites.distances(0, 1) == 6


def test_other_networks(file):
    fly = read_machine(file("dragonfly 9 4 2\nundirected\na 0 0\nb 8 3 2\n"))
    assert isinstance(fly.network, Dragonfly)
    assert not fly.network.directed
    assert Sites(fly).point.tolist() == [0, 35]
    tree = read_machine(file("fattree 2 3 4\nuplinks 2 1 1\nbandwidth 4 2 1\na 23\nb 0\n"))
    assert isinstance(tree.network, FatTree)
    assert tree.network.uplinks == (2, 1, 1)
    assert Sites(tree).distances(0, 1) == 6


def test_the_nodes_of_the_job_in_its_order(file):
    found = read_machine(file(CRAY), nodes="nid00100,nid00012:4")
    assert found.hosts == ("nid00100", "nid00012")
    assert found.slots.tolist() == [8, 4]
    assert Sites(found).coordinates.tolist() == [[16, 7, 23], [3, 0, 7]]
    with pytest.raises(MappingError, match="nid7"):
        read_machine(file(CRAY), nodes="nid7")
    with pytest.raises(ConfigError, match="topology: has no effect on a list of coordinates"):
        read_machine(file(CRAY), topology="x")
    with pytest.raises(ConfigError, match="distance"):
        read_machine(file(CRAY), distance="1:2")


@pytest.mark.parametrize(("text", "match"), [
    ("", "is empty"),
    ("# nothing\n", "is empty"),
    ("n1 0 0\n", ":1: the first line must name a network"),
    ("torus\nn1 0\n", ":1: torus needs at least one size"),
    ("torus 4 x\nn1 0\n", "sizes of the network must be whole numbers"),
    ("torus 0 4\nn1 0 0\n", ":1: dims"),
    ("dragonfly 9 4\nn1 0 0\n", "dragonfly needs groups, routers"),
    ("dragonfly 9 2 2\nn1 0 0\n", "reach 4 groups"),
    ("torus 4 4\n", "lists no nodes"),
    ("torus 4 4\nn1 0\n", ":2: node n1 needs 2 coordinates"),
    ("torus 4 4\nn1 0 1 2 3\n", ":2: node n1 needs 2 coordinates"),
    ("torus 4 4\nn1 0 4\n", ":2: node n1 is at .0, 4., outside the torus of 4 x 4"),
    ("torus 4 4\nn1 0 -1\n", "coordinates and slots must be whole numbers"),
    ("torus 4 4\nn1 0 1\nn1 0 2\n", ":3: node n1 is listed more than once"),
    ("torus 4 4\nn1 0 1 0\n", "has 0 slots"),
    ("torus 4 4\nuplinks 1 1\nn1 0 0\n", "uplinks are of a fattree"),
    ("torus 4 4\nbandwidth a\nn1 0 0\n", "bandwidths must be numbers"),
    ("torus 4 4\nbandwidth 1 2 3\nn1 0 0\n", ":2: bandwidth: needs one number, 2"),
    ("torus 4 4\nbandwidth 1 inf\nn1 0 0\n", ":2: bandwidth: must be positive and finite, is inf for a link"),
    ("fattree 2 3\nundirected\nuplinks 2\nn1 0\n", ":3: uplinks: needs one per level"),
    ("torus 4 4\nundirected yes\nn1 0 0\n", "stands alone"),
])
def test_refused_files(file, text, match):
    with pytest.raises(FormatError, match=match):
        read_coordinates(file(text))


def test_machine_info(file, capsys):
    path = str(file(CRAY))
    assert main(["machine", "info", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["processors"] == 40
    assert found["hosts"][2] == {"name": "nid00100", "slots": 8}
    assert np.isclose(sum(row["share"] for row in found["distances"]), 1)
