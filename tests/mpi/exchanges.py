"""What ranks do to try exchanges: ``mpiexec -n N python -m tests.mpi.exchanges FOLDER...`` prints a line of JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import copart
from copart.formats.interedges_file import read_interedges
from copart.mpi import Exchange, Halo

COMM = MPI.COMM_WORLD


def total(value: Any) -> Any:
    return COMM.allreduce(value)


def refused(go: Any) -> bool:
    """Whether a process of neither component is told so."""
    try:
        go()
    except copart.ConfigError as error:
        return "this process has no part of" in str(error)
    return False


def field(cells: np.ndarray) -> np.ndarray:
    """A value for each cell, no two the same."""
    return np.sin(cells * 1.7) + cells


def everything(folder: str) -> dict[str, Any]:
    """All that an exchange must do, on one plan; True, or counts for the test to compare, and results by cell."""
    told = json.loads((Path(folder) / "metrics.json").read_text())
    names, shared = told["settings"]["names"], told["settings"].get("shared")
    out: dict[str, Any] = {"pairs": {}, "halos": {}}
    for pair in [(one["a"], one["b"]) for one in told["metrics"]["pairs"]]:
        with Exchange(COMM, folder, pair) as exchange:
            # the name spelled out: what knows it loads the compiler, on every rank
            file = "interedges.mtx" if len(names) == 2 else f"{'-'.join(pair)}.interedges.mtx"
            inter = read_interedges(Path(folder) / file)
            out["pairs"]["-".join(pair)] = of_pair(exchange, inter.to_scipy())
    for name in names:
        mine = name if shared else None
        if shared or name == names[0]:
            with Halo(COMM, folder, mine) as halo:
                out["halos"].update(of_halo(halo))
    return out


def of_pair(exchange: Exchange, weights: Any) -> dict[str, Any]:
    out: dict[str, Any] = {}
    took_part = set(exchange.pair) & set(exchange.cells)
    (a, b), cells = exchange.pair, exchange.cells
    for way, sender, receiver, table in (("forward", a, b, weights), ("backward", b, a, weights.T.tocsr())):
        go = getattr(exchange, way)
        sends, receives = sender in cells, receiver in cells
        ids = cells.get(sender, np.zeros(0, np.int32))
        own = cells.get(receiver, np.zeros(0, np.int32))

        def run(values: Any, like: Any, mapping: str) -> Any:
            if not took_part:
                return None
            # a receiver that sends nothing says what it expects
            return go(values if sends else None, like=None if sends else like, mapping=mapping)  # noqa: B023

        good = {}
        before = exchange.sent[way]
        raw = run(ids, "i4", "raw")
        after = exchange.sent[way]
        out[f"{way} counts"] = [total(y - x) for x, y in zip(before, after, strict=True)]
        good["raw"] = not receives or np.array_equal(raw, exchange.ghosts[receiver])
        got = run(np.full(len(ids), 0.1 + 0.7), "f8", "consistent")
        good["constant"] = not receives or bool((got == 0.1 + 0.7).all())
        single = run(np.full((len(ids), 2), np.float32(0.1)), "2f4", "consistent")
        good["constant f4"] = not receives or bool((single == np.float32(0.1)).all() and single.dtype == np.float32)
        values = field(ids)
        mean = run(values, "f8", "consistent")
        spread = run(values, "f8", "conservative")
        near = run(values, "f8", "nearest")
        if receives:
            every = field(np.arange(table.shape[0]))
            average = (table.T @ every) / np.asarray(table.sum(axis=0)).ravel()
            good["average"] = bool(np.allclose(mean, average[own], rtol=1e-13, atol=0))
            share = table.T @ (every / np.where(np.diff(table.indptr) > 0, np.asarray(table.sum(axis=1)).ravel(), 1))
            good["shares"] = bool(np.allclose(spread, share[own], rtol=1e-12, atol=1e-12))
            columns = [table[:, [j]].T.tocsr() for j in own.tolist()]
            best = [column.indices[np.argmax(column.data)] for column in columns]
            good["nearest"] = bool((near == every[np.array(best, int)]).all())
        sent = total(float(values.sum())) if sends else total(0.0)
        came = total(float(spread.sum())) if receives else total(0.0)
        good["sum"] = abs(sent - came) <= 1e-12 * max(abs(sent), 1.0)
        # several fields of different types in one message, two exchanges under way at once
        start = getattr(exchange, f"start_{way}")
        several = [ids.astype("i8"), np.column_stack([values, -values]), ids.astype("c16") * 1j, ids % 2 == 0]
        like = ["i8", "2f8", "c16", "?"]
        so_far = exchange.sent[way].messages
        if took_part:
            one = start(several if sends else None, like=None if sends else like, mapping="nearest")
            good["one message"] = exchange.sent[way].messages - so_far == after.messages - before.messages
            two = start(values if sends else None, mapping="consistent")
            got_two, got_one = two.wait(), one.wait()
        else:
            good["refused"] = refused(go)
        if receives:
            exact = np.array(best, int)
            good["several"] = [x.dtype.str for x in got_one] == ["<i8", "<f8", "<c16", "|b1"] \
                and np.array_equal(got_one[0], exact) and np.array_equal(got_one[1], np.column_stack([near, -near])) \
                and np.array_equal(got_one[2], exact * 1j) and np.array_equal(got_one[3], exact % 2 == 0)
            good["both under way"] = np.array_equal(got_two, mean)
        bad = COMM.allgather([key for key, fine in good.items() if not fine])
        out[f"{way} wrong"] = sorted({key for one_rank in bad for key in one_rank})
        rows = COMM.gather(list(zip(own.tolist(), mean.tolist(), spread.tolist(), strict=True)) if receives else [])
        if COMM.rank == 0:
            out[f"{way} result"] = sorted(row for part in rows for row in part)
    return out


def of_halo(halo: Halo) -> dict[str, Any]:
    ids = halo.cells
    here = np.arange(len(ids)) < halo.nowned
    before = halo.sent["update"]
    one, two = np.where(here, ids, -1), np.where(here[:, None], np.column_stack([field(ids), ids]), np.nan)
    halo.update([one, two])
    good = np.array_equal(one, ids) and np.array_equal(two, np.column_stack([field(ids), ids]))
    sent = halo.sent["update"]
    counted = np.ones(len(ids), np.int64)
    halo.reduce(counted)
    biggest = np.where(here, -1, ids)
    halo.reduce(biggest, "max")
    # ghosts carry their numbers back to their owners
    good &= bool(((biggest == ids) | (biggest == -1))[:halo.nowned].all())
    told = COMM.gather((halo.component, bool(good), sent.messages - before.messages, sent.values - before.values,
                        int(counted[:halo.nowned].sum() - halo.nowned)))
    out: dict[str, Any] = {}
    for name, fine, messages, values, copies in told or []:
        entry = out.setdefault(name, [True, 0, 0, 0])
        out[name] = [entry[0] and fine, entry[1] + messages, entry[2] + values, entry[3] + copies]
    return out


def main() -> None:
    out = {folder: everything(folder) for folder in sys.argv[1:]}
    if COMM.rank == 0:
        print(json.dumps(out))


if __name__ == "__main__":
    try:
        main()
    except copart.CopartError as error:
        print(f"rank {COMM.rank}: {error}", file=sys.stderr, flush=True)
        COMM.Abort(3)
