"""Migration plans: applied to the former parts they give the new ones; their files come back as written."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.coupling import CoPartition, CoupledProblem
from copart.errors import CouplingError, FormatError
from copart.formats.migration_file import read_migration, write_migration
from copart.graph import Graph
from copart.metrics import migration_matrix, migration_messages, migration_volume
from copart.migration.plan import MigrationPlan, Moves


@st.composite
def two_partitions(draw):
    n, m, k = draw(st.integers(1, 40)), draw(st.integers(1, 6)), draw(st.integers(1, 6))
    old = draw(st.lists(st.integers(0, m - 1), min_size=n, max_size=n))
    new = draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    sizes = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    return old, new, m, k, sizes


@given(two_partitions())
def test_moves_turn_the_old_parts_into_the_new(case):
    old, new, m, k, sizes = case
    moves = Moves.between(old, new, m, k, sizes)
    assert moves.apply(old).tolist() == new
    # every cell by itself, without arrays
    listed = {cell: (p, q) for p, q, cells in zip(moves.source, moves.target, moves.lists(), strict=True)
              for cell in cells}
    assert listed == {v: (p, q) for v, (p, q) in enumerate(zip(old, new, strict=True)) if p != q}
    matrix = migration_matrix(old, new, m, k, sizes)
    assert int(moves.volume.sum()) == migration_volume(matrix)
    # messages of cells without size are messages, too
    assert len(moves.source) == migration_messages(migration_matrix(old, new, m, k))


def example() -> tuple[CoPartition, CoPartition, CoupledProblem]:
    graphs = {"fluid": Graph.from_edges(5, [], [], vsize=[1, 2, 3, 4, 5]), "solid": Graph.from_edges(3, [], [])}
    old = CoPartition({"fluid": [0, 0, 1, 1, 2], "solid": [0, 1, 1]}, {"fluid": 3, "solid": 2})
    new = CoPartition({"fluid": [0, 1, 1, 0, 1], "solid": [0, 1, 2]}, {"fluid": 2, "solid": 3})
    return old, new, CoupledProblem(graphs)


def test_file_comes_back(tmp_path):
    old, new, problem = example()
    plan = MigrationPlan.between(old, new, problem)
    assert (plan.volume, plan.messages) == (2 + 4 + 5 + 1, 4)
    value = write_migration(tmp_path / "migration.json", plan)
    assert value["components"][0]["moves"] == [{"from": 0, "to": 1, "volume": 2, "cells": [1]},
                                               {"from": 1, "to": 0, "volume": 4, "cells": [3]},
                                               {"from": 2, "to": 1, "volume": 5, "cells": [4]}]
    again = read_migration(tmp_path / "migration.json")
    for name, part in again.apply(old).items():
        assert part.tolist() == new[name].tolist()
    assert repr(again) == repr(plan)
    assert write_migration(tmp_path / "again.json", again) == value


def test_nothing_moves(tmp_path):
    old, _, _ = example()
    plan = MigrationPlan.between(old, old)
    assert (plan.volume, plan.messages) == (0, 0)
    write_migration(tmp_path / "m.json", plan)
    assert read_migration(tmp_path / "m.json").apply(old)["fluid"].tolist() == old["fluid"].tolist()


def test_plan_is_refused_for_other_parts():
    old, new, _ = example()
    plan = MigrationPlan.between(old, new)
    with pytest.raises(CouplingError, match="cell 1 is in part 1, the migration plan sends it from part 0"):
        plan.moves["fluid"].apply([0, 1, 1, 1, 2])
    with pytest.raises(CouplingError, match="1 cells stay in parts that are no more, first cell 2"):
        plan.moves["fluid"].apply([0, 0, 2, 1, 2])
    with pytest.raises(CouplingError, match="need"):
        plan.moves["fluid"].apply([0, 0])
    with pytest.raises(CouplingError, match="the migration plan of fluid, solid"):
        plan.apply(CoPartition({"fluid": [0]}, {"fluid": 1}))


GOOD = {"schema": "copart-migration", "version": 1, "components": [
    {"name": "a", "cells": 4, "former_parts": 2, "parts": 2, "volume": 2, "messages": 2, "moves": [
        {"from": 0, "to": 1, "volume": 1, "cells": [0]}, {"from": 1, "to": 0, "volume": 1, "cells": [3]}]}]}


@pytest.mark.parametrize(("place", "value", "message"), [
    (["schema"], "other", "is no copart-migration document"),
    (["components"], {}, "components: needs a list"),
    (["components", 0, "name"], 3, "name of its own"),
    (["components", 0, "cells"], -1, "cells: needs a whole number"),
    (["components", 0, "cells"], 3, r"components\[0\]: cells: 1 of 2 entries are outside 0..2"),
    (["components", 0, "former_parts"], 1, "source: 1 of 2 entries are outside 0..0"),
    (["components", 0, "moves"], 3, "moves: needs a list"),
    (["components", 0, "moves", 1, "from"], 0, "goes from a part to itself"),
    (["components", 0, "moves", 0, "cells"], [], "no message is empty"),
    (["components", 0, "moves", 0, "cells"], [3], "cell 3 is sent 2 times"),
    (["components", 0, "moves", 0, "cells"], [2, 1], "must ascend"),
    (["components", 0, "moves", 0, "cells"], ["x"], r"cells\[0\]: needs a whole number"),
    (["components", 0, "moves", 0, "volume"], None, "volume: needs a whole number"),
])
def test_damaged_files_say_where(tmp_path, place, value, message):
    document = json.loads(json.dumps(GOOD))
    there = document
    for key in place[:-1]:
        there = there[key]
    there[place[-1]] = value
    path = tmp_path / "migration.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FormatError, match=message):
        read_migration(path)
    path.write_text(json.dumps(GOOD))
    assert read_migration(path).moves["a"].apply([0, 0, 1, 1]).tolist() == [1, 0, 1, 0]


def test_messages_must_be_in_order():
    with pytest.raises(CouplingError, match="must ascend by former part"):
        Moves(4, 2, 3, np.array([0, 0]), np.array([2, 1]), np.array([0, 1, 2]), np.array([0, 1]))
