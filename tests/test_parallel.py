"""Independent pieces of work on several threads."""

from __future__ import annotations

import threading
import time
from contextvars import ContextVar

import pytest

from copart.errors import MeshError
from copart.kgggp_ml import partition
from copart.mesh import Mesh, cube
from copart.parallel import IDLE, Background, shares, side_by_side
from copart.partitioner import rounds
from copart.partitioner.rounds import Team
from copart.plans.plan import plan

from .helpers import triangulated


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_order(threads):
    assert side_by_side([lambda i=i: i * i for i in range(7)], threads) == [i * i for i in range(7)]


@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_failure_is_told(threads):
    def fail(what: str) -> None:
        raise ValueError(what)

    with pytest.raises(ValueError, match="second"):
        side_by_side([lambda: None, lambda: fail("second"), lambda: fail("third")], threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_pieces_see_what_the_caller_has_set(threads):
    told: ContextVar[str] = ContextVar("told", default="nothing")
    told.set("something")
    assert side_by_side([told.get, told.get], threads) == ["something", "something"]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_error_of_the_first_component_is_told(threads):
    loose = ([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 5, 0], [6, 5, 0], [5, 6, 0]], [[0, 1, 2], [3, 4, 5]])
    with pytest.raises(MeshError, match="mesh 'first': no two of its 2 cells"):
        plan(*(Mesh(loose[0], [("triangle", loose[1])], name=name) for name in ("first", "second")), parts=(1, 1),
             threads=threads)


def test_files_of_any_plan_are_the_same_on_any_number_of_threads(tmp_path):
    a, b = cube("tetra", 1500), cube("tetra", 900, offset=(1.0, 0.0, 0.0))
    for n in (1, 2, 3):
        plan(a, b, parts=(12, 3), names=("a", "b"), threads=n, output=tmp_path / str(n))
    files = {n: {p.relative_to(tmp_path / str(n)): p.read_bytes() for p in (tmp_path / str(n)).rglob("*")
                 if p.is_file() and p.name != "metrics.json"} for n in (1, 2, 3)}
    assert len(files[1]) > 8
    assert files[1] == files[2] == files[3]


def test_a_piece_is_at_work_while_the_caller_does_something_else():
    meeting = threading.Barrier(2, timeout=30)
    with Background(2) as pieces:
        pieces.begin(meeting.wait)
        meeting.wait()
        assert sorted(pieces.results()) in ([0], [1])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_caller_does_what_has_not_begun(threads):
    held, done = threading.Event(), []
    with Background(threads) as pieces:
        pieces.begin(lambda: held.wait(30) if threads > 1 else None)
        pieces.begin(lambda: done.append(threading.current_thread()))
        pieces.begin(held.set)
        pieces.results()
    assert len(done) == 1
    assert (done[0] is threading.current_thread()) or threads == 3


def test_two_pieces_are_at_work_at_once():
    meeting = threading.Barrier(2, timeout=30)
    assert sorted(side_by_side([meeting.wait, meeting.wait], 2)) == [0, 1]


@pytest.mark.parametrize(("sizes", "threads", "expected"), [
    ([5, 5], 1, (1, 1)), ([5, 5], 2, (2, 1)), ([5, 5], 5, (2, 2)), ([50, 5], 2, (1, 2)), ([5], 4, (1, 4)),
    ([5, 5, 5], 2, (2, 1)), ([5, 5, 5], 8, (3, 2)),
])
def test_threads_are_shared_out(sizes, threads, expected):
    assert shares(sizes, threads) == expected


@pytest.mark.parametrize("scheme", ["naive", "joint"])
def test_plans_are_the_same_on_any_number_of_threads(tmp_path, scheme):
    a, b = cube("hexa", 7), cube("hexa", 5).translated((1.0, 0.0, 0.0))
    made = [plan(a, b, parts=(3, 4), scheme=scheme, interedges="touch", names=("a", "b"), threads=n,
                 output=tmp_path / str(n))
            for n in (1, 2, 4)]
    for one, folder in zip(made[1:], (tmp_path / "2", tmp_path / "4"), strict=True):
        assert one.metrics.to_dict() == made[0].metrics.to_dict()
        for file in ("a.vtu", "b.vtu", "a.part.3", "b.part.4", "coupling.json", "interedges.mtx"):
            assert (folder / file).read_bytes() == (tmp_path / "1" / file).read_bytes()


def test_large_levels_are_told(monkeypatch):
    monkeypatch.setattr(rounds, "_TOLD", 500)
    told: list[tuple[str, int, int]] = []
    graph = triangulated(60, 50)
    part = partition(graph, 4, progress=lambda *step: told.append(step))
    steps = [step for step, _, _ in told]
    assert steps[0] == "coarsening 3000 vertices"
    assert steps[-1] == "refining 3000 vertices"
    sizes = [int(step.split()[1]) for step in steps]
    assert min(sizes) >= 500
    assert sizes == sizes[::-1]
    assert (partition(graph, 4) == part).all()


# ---- threads that others have left
def grow(team: Team) -> None:
    """Wait until there are more threads, ten seconds at most."""
    before, end = team.threads, time.monotonic() + 10
    while team.threads == before and time.monotonic() < end:
        team.grow()


def test_who_is_still_at_work_gets_the_threads_of_the_others():
    ended = threading.Event()

    def short() -> int:
        with Team(2) as team:
            team.grow()
            return team.threads

    def long() -> list[int]:
        assert ended.wait(10)
        with Team(2) as team:
            seen = [team.threads]
            grow(team)  # the other piece ends a little after its event
            seen += [team.threads, len(team.run(lambda lo, hi: hi - lo, 10**6))]
        with Team(2) as team:  # what the first has taken it leaves
            team.grow()
            return [*seen, team.threads]

    def told() -> int:
        try:
            return short()
        finally:
            ended.set()

    assert side_by_side([long, told], 2, 2) == [[2, 4, 4, 4], 2]
    assert IDLE.get() is None


def test_nothing_is_left_while_pieces_wait():
    def work(i: int) -> int:
        with Team(1) as team:
            team.grow()
            return team.threads

    # one after the other: each ends when another waits, but the last
    assert side_by_side([lambda i=i: work(i) for i in range(4)], 1) == [1] * 4


def test_threads_of_a_piece_that_fails_are_left_too():
    found: list[int] = []

    def fail() -> None:
        raise ValueError("lost")

    def wait() -> None:
        with Team(1) as team:
            grow(team)
            found.append(team.threads)

    with pytest.raises(ValueError, match="lost"):
        side_by_side([wait, fail], 2)
    assert found == [2]


@pytest.mark.parametrize("preset", ["fast", "default", "strong"])
def test_a_team_that_grows_makes_the_same(monkeypatch, preset):
    """A thread more from some level on, up to six."""
    graph = triangulated(60, 60)
    monkeypatch.setattr(rounds, "GRAIN", 64)
    expected = partition(graph, 7, preset=preset, seed=3)
    grown: list[int] = []

    def one_more(team: Team) -> None:
        if team.threads < 6 and len(grown) % 2:
            team._idle.leave(1)
            usual(team)
        grown.append(team.threads)

    usual = Team.grow
    monkeypatch.setattr(Team, "grow", one_more)
    assert (side_by_side([lambda: partition(graph, 7, preset=preset, seed=3)], 1)[0] == expected).all()
    assert max(grown) > 2
