"""``--objective`` of ``copart ranks`` and ``copart plan``."""

from __future__ import annotations

import json
from pathlib import Path

from copart.cli import main
from copart.mesh import cube, write_vtu


def told(capsys, *words: str) -> dict[str, object]:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_ranks_tell_what_nodes_send(folder, capsys):
    lines = [f"{13 * r % 64} {13 * (r + step) % 64} {65536 * (1 + r % 3)} 100"
             for r in range(64) for step in (1, -1, 8)]
    Path("halo.txt").write_text("\n".join(lines))
    line = ["ranks", "halo.txt", "--nodes", "8", "--slots", "8"]
    plain = told(capsys, *line)
    assert plain["objective"] == "time"
    for objective, key in (("max-volume", "busiest_after_us"), ("messages", "node_pairs_after"),
                           ("max-messages", "most_nodes_after")):
        found = told(capsys, *line, "--objective", objective)
        assert found[key] <= plain[key]
        assert found["busiest_before_us"] == plain["busiest_before_us"]
    assert main([*line, "--objective", "messages"]) == 0
    assert "busiest node sends for" in capsys.readouterr().out


def test_a_plan_takes_an_objective(folder, capsys):
    for name, dx in (("a", 0), ("b", 1)):
        write_vtu(f"{name}.vtu", cube("hexa", 8, offset=(dx, 0, 0)))
    line = ["plan", "a.vtu", "b.vtu", "--parts", "6", "6"]
    plain = told(capsys, *line)
    found = told(capsys, *line, "--objective", "volume")
    assert found["settings"]["scheme_options"] == {"objective": "volume"}
    assert found["metrics"]["pairs"] == plain["metrics"]["pairs"]
    assert main([*line, "--objective", "volume", "--contiguous"]) == 2
    assert "objective: is not available with contiguous" in capsys.readouterr().err


def test_replan_says_that_it_knows_no_objective(folder, caplog):
    for name, dx in (("a", 0), ("b", 1)):
        write_vtu(f"{name}.vtu", cube("hexa", 6, offset=(dx, 0, 0)))
    assert main(["plan", "a.vtu", "b.vtu", "--parts", "4", "4", "--objective", "volume", "-o", "first", "-q"]) == 0
    assert main(["replan", "first", "--parts", "5", "4", "-o", "second"]) == 0
    assert "objective of the former plan, volume, is not sought again" in caplog.text
