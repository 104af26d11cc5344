"""Communication profiles in, and ``copart ranks``."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.cli import main
from copart.commands.ranks import placed
from copart.errors import FormatError
from copart.formats import read_part
from copart.formats.placement_file import read_placement
from copart.formats.profiles import read_profile
from copart.mapping.ranks.communication import communication_graph

MONITORING = """\
hello from the application 0 1 2
# POINT TO POINT
E\t0\t1\t1012 bytes\t30 msgs sent\t0,0,30
I\t0\t1\t108 bytes\t27 msgs sent
E\t0\t2\t23052 bytes\t61 msgs sent
# OSC
S\t1\t0\t860 bytes\t24 msgs sent
R\t1\t3\t400 bytes\t4 msgs sent
# COLLECTIVES
C\t0\t1\t99999 bytes\t9 msgs sent
D\tMPI_COMM_WORLD\tprocs: 0,1,2,3
A2A\t0\t276 bytes\t15 msgs sent
"""


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def totals(messages):
    """(source, target, total bytes, messages), sorted."""
    count = np.ones(len(messages.source), int) if messages.count is None else messages.count
    return sorted(zip(messages.source.tolist(), messages.target.tolist(), (messages.nbytes * count).tolist(),
                      count.tolist(), strict=True))


def test_open_mpi_monitoring(tmp_path):
    found = read_profile(write(tmp_path, "job.prof", MONITORING))
    assert found.nranks == 4
    assert totals(found) == [(0, 1, 108, 27), (0, 1, 1012, 30), (0, 2, 23052, 61), (1, 0, 860, 24), (3, 1, 400, 4)]


@pytest.mark.parametrize("text", [
    "0 10 0 0 5\n0 0 20 0 0\n1 0 0 0 0\n0 0 0 0 7\n0 0 0 0 0\n",
    "0,10,0,0,5\n0,0,20,0,0\n1,0,0,0,0\n0,0,0,0,7\n0,0,0,0,0\n",
    "# bytes\n,0,1,2,3,4\n0,0,10,0,0,5\n1,0,0,20,0,0\n2,1,0,0,0,0\n3,0,0,0,0,7\n4,0,0,0,0,0\n",
    "source;target;bytes\n0;1;10\n0;4;5\n1;2;20\n2;0;1\n3;4;7\n",
    "0 1 10 1\n0 4 5\n1 2 20\n\n2 0 1\n% a remark\n3 4 7\n",
    "%%MatrixMarket matrix coordinate integer general\n5 5 5\n1 2 10\n1 5 5\n2 3 20\n3 1 1\n4 5 7\n"])
def test_forms_of_one_profile(tmp_path, text):
    for path in (write(tmp_path, "p.csv", text), tmp_path / "p.csv.gz"):
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(text.encode()))
        found = read_profile(path)
        assert found.nranks == 5
        assert totals(found) == [(0, 1, 10, 1), (0, 4, 5, 1), (1, 2, 20, 1), (2, 0, 1, 1), (3, 4, 7, 1)]


def test_counts_in_another_file(tmp_path):
    size = write(tmp_path, "size.mat", "0 100 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n8 0 0 0 0\n")
    count = write(tmp_path, "msg.mat", "0 25 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n2 0 0 0 0\n")
    assert totals(read_profile(size, counts=count)) == [(0, 1, 100, 25), (4, 0, 8, 2)]
    assert read_profile(size, counts=count).nbytes.tolist() == [4, 4]
    assert read_profile(size, nranks=9).nranks == 9


def test_messages_of_no_bytes_are_counted_in_every_form(tmp_path):
    """Synchronisation costs latencies: the same in a matrix of bytes beside one of messages as in a list."""
    size, count = write(tmp_path, "size", "0,10,0\n0,0,0\n0,0,0\n"), write(tmp_path, "count", "0,2,7\n0,0,0\n0,0,0\n")
    one = read_profile(size, counts=count, kind="matrix")
    other = read_profile(write(tmp_path, "list", "0 1 10 2\n0 2 0 7\n"))
    assert totals(one) == totals(other) == [(0, 1, 10, 2), (0, 2, 0, 7)]
    assert communication_graph(one).cut([0, 1, 2]) == communication_graph(other).cut([0, 1, 2])
    again = write(tmp_path, "again", "0 1 4\n0 1 6\n")
    assert totals(read_profile(again, counts=write(tmp_path, "n", "0 1 2\n0 2 7\n"))) == totals(one)
    more = read_profile(write(tmp_path, "pair", "0 1 10\n"), counts=write(tmp_path, "far", "0 1 2\n5 0 3\n"))
    assert more.nranks == 6


@given(st.integers(2, 7), st.integers(0, 10**6))
def test_matrix_and_list_say_the_same(tmp_path_factory, n, seed):
    folder = tmp_path_factory.mktemp("profile")
    matrix = np.random.default_rng(seed).integers(0, 4, (n, n)) * 1000
    matrix[n - 1, 0] = 1
    listed = "".join(f"{s}\t{t}\t{matrix[s, t]}\n" for s, t in zip(*np.nonzero(matrix), strict=True))
    a = read_profile(write(folder, "a.txt", "\n".join(" ".join(map(str, row)) for row in matrix)), kind="matrix")
    b = read_profile(write(folder, "b.txt", listed), kind="list")
    assert totals(a) == totals(b)
    pair = [communication_graph(x).graph.to_scipy().toarray() for x in (a, b)]
    assert (pair[0] == pair[1]).all()


@pytest.mark.parametrize(("text", "said"), [
    ("", "holds no messages"), ("a b c\n", "holds no messages"), ("0 1 x\n", "p:1: needs numbers, found 'x'"),
    ("0 1 -5\n0 2 3\n", "p:1: numbers must be at least 0"), ("0 1 nan\n", "p:1: numbers must be at least 0"),
    ("0 1 5\n0 1\n", "p:2: has 2 numbers where the lines before have 3"), ("0.5 1 5\n", "p:1: ranks must be whole"),
    ("0 1 5 1.5\n", "p:1: the number of messages must be whole"),
    ("0 1\n", "neither a square matrix"), ("0 1 2\n1 0 2\n2 1 0\n", "say which"),
    ("0 99999999999 3\n", "p:1: ranks must be whole"),
    ("%%MatrixMarket matrix coordinate integer general\n2 3 1\n1 2 5\n", "square"),
    ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -5\n", "at least 0")])
def test_bad_profiles(tmp_path, text, said):
    with pytest.raises(FormatError) as caught:
        read_profile(write(tmp_path, "p", text))
    assert said in str(caught.value)


def test_bytes_without_messages(tmp_path):
    """They take a message, in a list as in a file of counts; neither bytes nor messages are nothing."""
    listed = write(tmp_path, "list.txt", "0 1 4096 0\n1 2 0 3\n2 0 0 0\n")
    assert totals(read_profile(listed)) == [(0, 1, 4096, 1), (1, 2, 0, 3)]
    size, count = (write(tmp_path, name, text) for name, text in (("size", "0 9\n0 0\n"), ("count", "0 0\n2 0\n")))
    assert totals(read_profile(size, counts=count)) == [(0, 1, 9, 1), (1, 0, 0, 2)]


def test_other_refusals(tmp_path):
    listed = write(tmp_path, "p", "0 1 5\n1 7 5\n")
    with pytest.raises(FormatError, match="has rank 7, but the job is said to have 4 ranks"):
        read_profile(listed, nranks=4)
    with pytest.raises(FormatError, match="as many columns as rows"):
        read_profile(listed, kind="matrix")
    with pytest.raises(FormatError, match="cannot be read"):
        read_profile(tmp_path / "absent")
    with pytest.raises(FormatError, match=r"half: the number of messages must be whole, found 2\.5"):
        read_profile(listed, counts=write(tmp_path, "half", "0 1 2.5\n"))
    small = write(tmp_path, "small", "0 1\n1 0\n")
    with pytest.raises(FormatError, match="is about 2 ranks"):
        read_profile(write(tmp_path, "m", "0 1 0 0 0\n" * 5), counts=small)


# ---- the command
@pytest.fixture
def pairs(tmp_path):
    """Sixteen ranks on two nodes, each writes to its partner eight further."""
    return write(tmp_path, "pairs.txt", "".join(f"{s} {(s + 8) % 16} 4194304\n" for s in range(16)))


def test_command(pairs, tmp_path, capsys):
    assert main(["ranks", str(pairs), "--nodes", "2", "--slots", "8", "--model", "meluxina-network"]) == 0
    said = capsys.readouterr().out
    assert "time between nodes: 2824.3 us before, 0.0 us after (100.0% less)" in said
    rank = read_part(f"{pairs}.ranks")
    assert sorted(rank) == list(range(16))
    node = np.empty(16, int)
    node[rank] = np.arange(16) // 8
    assert (node[:8] == node[8:]).all()


def test_command_as_json(pairs, tmp_path, capsys):
    new = tmp_path / "new.txt"
    full = write(tmp_path, "full", "0\n" * 6 + "1\n" * 6 + "2\n" * 4)
    assert main(["ranks", str(pairs), "--nodes", "3", "--slots", "8", "4", "4", "--placement", str(full), "--json",
                 "--latency", "1", "--bandwidth", "1000", "--duplex", "half", "--method", "bisection",
                 "-o", str(new)]) == 2
    assert "puts 6 ranks on node 1, which has 4 slots" in capsys.readouterr().err
    assert main(["ranks", str(pairs), "--nodes", "3", "--slots", "8", "4", "4", "--json", "--latency", "1",
                 "--bandwidth", "1000", "--duplex", "half", "-o", str(new)]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["cut_before_us"] == pytest.approx(8 * 2 * 4195.304)
    assert figures["cut_after_us"] == 0
    assert figures["ranks"] == len(read_part(new)) == 16


def test_command_with_files(pairs, tmp_path, capsys):
    where = write(tmp_path, "where", "\n".join(str(r % 2) for r in range(16)))
    table = write(tmp_path, "table", "# bytes us MB/s\n1 1 100\n1024, 2, 1000\n")
    assert main(["ranks", str(pairs), "--nodes", "2", "--slots", "9", "--placement", str(where), "--model", str(table),
                 "-q"]) == 0
    assert read_part(f"{pairs}.ranks").tolist() == list(range(16)), "the optimum is left as it is"


@pytest.mark.parametrize(("where", "node"), [
    ("block", [0, 0, 0, 1, 2, 2, 2, 2]), ("cyclic", [0, 1, 2, 0, 2, 0, 2, 2]), ("cyclic:2", [0, 0, 1, 2, 2, 0, 2, 2]),
    ("cyclic:2147483647", [0, 0, 0, 1, 2, 2, 2, 2])])
def test_full_nodes_are_passed_over(where, node):
    assert placed(where, 8, [3, 1, 10**12], []).tolist() == node


def test_placement_by_name_and_by_number(tmp_path):
    names = ["n1.site.org", "n2", "n3"]
    by_name = write(tmp_path, "names", "n1\nn3\n# comment\nn3\n\nn2\n")
    by_number = write(tmp_path, "numbers", "0\n2\n2\n1\n")
    assert placed(str(by_name), 4, [2, 2, 2], names).tolist() == [0, 2, 2, 1]
    assert placed(str(by_number), 4, [2, 2, 2], names).tolist() == [0, 2, 2, 1]
    assert placed(str(by_number), 4, [2, 2, 2], []).tolist() == [0, 2, 2, 1]
    for file, nodes, rule in ((by_name, ["n1", "n3"], ":6: node 'n2' is none of the 2 of --nodes"),
                              (by_number, 2, r":2: node '2' is outside 0..1; nodes are numbered from 0")):
        with pytest.raises(FormatError, match=rule):
            read_placement(file, 4, nodes)
    with pytest.raises(FormatError, match="needs the node of each of 5 ranks, one per line, has 4"):
        read_placement(by_number, 5, 3)


def test_more_nodes_than_ranks(pairs, tmp_path, capsys):
    where = write(tmp_path, "where", "3\n" * 8 + "99\n" * 8)
    assert main(["ranks", str(pairs), "--nodes", "100", "--slots", "8", "--placement", str(where), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cut_after_us"] == 0


@pytest.mark.parametrize(("options", "said"), [
    (["--nodes", "2", "--slots", "7"], "16 ranks need as many slots, 2 nodes have 14"),
    (["--nodes", "3", "--slots", "8", "8"], "needs one number, or one for each of the 3 nodes, got 2"),
    (["--nodes", "2", "--slots", "9", "--model", "none"], "is no file and no known table"),
    (["--nodes", "2", "--slots", "9", "--latency", "1"], "go together"),
    (["--nodes", "2", "--slots", "9", "--method", "none"], "method: 'none' is not known"),
    (["--nodes", "2", "--slots", "9", "--placement", "absent"], "cannot be read"),
    (["--nodes", "2", "--slots", "8", "--nranks", "3"], "has rank 15"),
    (["--nodes", "0", "--slots", "8"], "--nodes: must be at least 1")])
def test_command_refuses(pairs, options, said, capsys):
    assert main(["ranks", str(pairs), *options]) == 2
    assert said in capsys.readouterr().err
    assert not pairs.with_name("pairs.txt.ranks").exists()
