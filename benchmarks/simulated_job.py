"""One step of a coupled run on a simulated network: reads processes from standard input, prints seconds.

Runs in a Python that has SimGrid, and needs nothing else: every process is an actor that computes, exchanges halos,
exchanges across the interface and computes there; each message goes through the platform's links, which it shares.
Asked for ``routes``, pairs of nodes, it prints the names of the links that SimGrid takes between them instead.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from simgrid import Actor, Engine, Mailbox, this_actor


def exchange(rank: int, phase: str, send: list[list[int]], receive: list[int], overhead: float) -> None:
    """Send all, receive all, wait for all; a message keeps its process busy for `overhead` at either end."""
    this_actor.sleep_for(overhead * (len(send) + len(receive)))
    under_way = [Mailbox.by_name(f"{phase} {rank} {to}").put_async(1, size) for to, size in send]
    coming = [Mailbox.by_name(f"{phase} {source} {rank}").get_async() for source in receive]
    for comm in (*under_way, *(one[0] if isinstance(one, tuple) else one for one in coming)):
        comm.wait()


def process(rank: int, of: dict[str, Any], overhead: float, ends: list[float]) -> None:
    this_actor.sleep_for(of["own"])
    exchange(rank, "halo", of["halo_to"], of["halo_from"], overhead)
    exchange(rank, "coupling", of["coupling_to"], of["coupling_from"], overhead)
    this_actor.sleep_for(of["coupled"])
    ends[rank] = Engine.get_clock()


def main() -> None:
    run = json.load(sys.stdin)
    engine = Engine(["simulated", "--log=root.thres:critical", "--cfg=network/model:CM02",
                     "--cfg=network/crosstraffic:0"])
    engine.load_platform(run["platform"])
    hosts = {host.name: host for host in engine.all_hosts}
    if "routes" in run:
        print(json.dumps([[link.name for link in hosts[f"node{a}"].route_to(hosts[f"node{b}"])[0]]
                          for a, b in run["routes"]]))
        return
    ends = [0.0] * len(run["processes"])
    for rank, of in enumerate(run["processes"]):
        Actor.create(f"rank {rank}", hosts[f"node{of['node']}"], process, rank, of, run["overhead"], ends)
    engine.run()
    print(json.dumps(max(ends)))


if __name__ == "__main__":
    main()
