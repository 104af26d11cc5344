"""Algorithms 7 to 13 of UMPa: every gain and loss against counting again from scratch, for all vertices and parts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from copart.hypergraph import Hypergraph
from copart.kernels import umpa_gains, umpa_passes, umpa_state
from copart.partitioner.umpa import METRICS

from .umpa_helpers import ALL, agrees, figures, flows, free, problems, searching, table


def move(h, s, u, b):
    """Move vertex u to part b as passes do."""
    if len(s.key):
        umpa_state.depart(h, s, u, -1)
        umpa_state.arrive(h, s, u, b, 1)
    umpa_state.shift(h, s, u, b)


def moved(part, u, p):
    other = part.copy()
    other[u] = p
    return other


@given(problems())
def test_tv_gains(problem):
    h, part, k = free(problem[0]), *problem[1:]
    search = searching(h, part, k, ("TV",))
    s, t = search.state, search.trial
    before = figures(h, part, k)["TV"]
    for u in range(h.nvtxs):
        gain = umpa_gains.leave_tv(search.h, s, u, t)
        near = set(t.near[:t.at[2]].tolist())
        for p in set(range(k)) - {int(part[u])}:
            loss = umpa_gains.put_tv(t, p)
            after = figures(h, moved(part, u, p), k)["TV"]
            assert loss - gain == after - before
            assert p in near or after >= before, "only parts in nets of the vertex can give a gain"
        umpa_gains.forget(t)


@given(problems())
def test_tm_gains_and_the_way_back(problem):
    h, part, k = free(problem[0]), *problem[1:]
    search = searching(h, part, k, ("TM", "TV"))
    s, t = search.state, search.trial
    before = figures(h, part, k)
    counted = flows(h, part)
    for u in range(h.nvtxs):
        umpa_gains.leave_tv(search.h, s, u, t)
        umpa_gains.leave_tm(search.h, s, u, t)
        gain = int(t.gain_messages.sum())
        for p in set(range(k)) - {int(part[u])}:
            umpa_gains.put_tm(s, p, t)
            after = figures(h, moved(part, u, p), k)
            assert t.loss_messages.sum() - gain == after["TM"] - before["TM"]
            for name in ("TM", "TV"):
                assert umpa_gains.value_after(s, METRICS[name], part[u], p, t) == after[name]
            umpa_gains.take_back(t)
        umpa_gains.return_tm(search.h, s, u)
        umpa_gains.forget(t)
        assert table(search) == counted
        assert s.messages.tolist() == searching(h, part, k).state.messages.tolist()
        assert not any(a.any() for a in (t.gain_messages, t.loss_messages, t.mark, t.role, t.conn, t.at))


@given(problems())
def test_msv_gains(problem):
    h, part, k = free(problem[0]), *problem[1:]
    search = searching(h, part, k, ("MSV", "MSRV", "TV"))
    s, t = search.state, search.trial
    for u in range(h.nvtxs):
        a = int(part[u])
        umpa_gains.leave_tv(search.h, s, u, t)
        umpa_gains.leave_msv(search.h, s, u, t)
        for p in set(range(k)) - {a}:
            umpa_gains.put_msv(search.h, s, u, p, t)
            after = searching(h, moved(part, u, p), k).state
            change = t.loss_send - t.gain_send
            assert (s.send + change).tolist() == after.send.tolist()
            assert change.sum() == t.at[6] - t.at[5], "sum of (lSV - gSV) = lRV - gRV"
            receive = s.receive.copy()
            receive[a] -= t.at[5]
            receive[p] += t.at[6]
            assert receive.tolist() == after.receive.tolist()
            truth = figures(h, moved(part, u, p), k)
            for name in ("MSV", "MSRV", "TV"):
                assert umpa_gains.value_after(s, METRICS[name], a, p, t) == truth[name]
            umpa_gains.take_back(t)
            assert not t.loss_send.any()
        umpa_gains.forget(t)
        assert not any(a.any() for a in (t.gain_send, t.loss_send, t.mark, t.conn, t.at))


@given(problems())
def test_msm_gains(problem):
    h, part, k = free(problem[0]), *problem[1:]
    search = searching(h, part, k)
    s, t = search.state, search.trial
    for u in range(h.nvtxs):
        a = int(part[u])
        umpa_gains.leave_tv(search.h, s, u, t)
        umpa_gains.leave_tm(search.h, s, u, t)
        for p in set(range(k)) - {a}:
            umpa_gains.put_tm(s, p, t)
            after = searching(h, moved(part, u, p), k).state
            # `messages` is without the vertex while it is on trial
            assert (s.messages + t.loss_messages).tolist() == after.messages.tolist()
            for name, value in figures(h, moved(part, u, p), k).items():
                if name in ("TV", "TM", "MSM"):
                    assert umpa_gains.value_after(s, METRICS[name], a, p, t) == value
            umpa_gains.take_back(t)
        umpa_gains.return_tm(search.h, s, u)
        umpa_gains.forget(t)


@given(problems(), st.data())
def test_moves_keep_every_count(problem, data):
    h, part, k = free(problem[0]), *problem[1:]
    search = searching(h, part, k)
    agrees(search, h)
    for _ in range(6):
        u = data.draw(st.integers(0, h.nvtxs - 1))
        b = data.draw(st.integers(0, k - 1))
        if b != search.state.part[u]:
            move(search.h, search.state, u, b)
            agrees(search, h)
    search.tidy()
    agrees(search, h)
    for name in ALL:
        assert umpa_gains.value_now(search.state, METRICS[name]) == figures(h, search.state.part, k)[name]


def test_the_table_of_pairs_grows_and_drops_what_is_gone():
    # a star whose source goes from part to part leaves pairs behind
    h = Hypergraph.from_nets(64, [list(range(64))])
    part = np.arange(64, dtype=np.int32)
    search = searching(h, part, 64)
    small = len(search.state.key)
    for b in range(1, 64):
        move(search.h, search.state, 0, b)
        search.tidy()
        agrees(search, h)
    assert len(search.state.key) >= small
    assert search.state.total[2] <= len(search.state.key) // 2 + 64


def test_lexicographic_order_level_by_level():
    def better(new, old, by_load=True, loads=(5, 5)):
        return bool(umpa_passes.better(np.array(new), np.array(old), *loads, by_load))

    assert better((1, 9, 9), (2, 0, 0))
    assert not better((2, 0, 0), (1, 9, 9))
    assert better((1, 1, 9), (1, 2, 0))
    assert not better((1, 2, 0), (1, 1, 9))
    assert better((1, 1, 1), (1, 1, 2))
    assert not better((1, 1, 1), (1, 1, 1)), "a full tie is no reason to move"
    assert better((1, 1, 1), (1, 1, 1), loads=(4, 5))
    assert not better((1, 1, 1), (1, 1, 1), by_load=False, loads=(4, 5))
    assert not better((1, 1, 2), (1, 1, 1), loads=(0, 5)), "the load breaks ties only"
