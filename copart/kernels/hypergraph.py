"""Kernels on the nets of a hypergraph: what a partition makes each of them send."""

from . import kernel


@kernel
def net_flows(xpins, pins, cost, part, nparts, stamp, connectivity, send, receive, flow):
    """Parts that each net touches and what that makes each part send and receive; returns the number of flows.

    xpins : (nnets + 1,) int64, in
    pins : (npins,) int32, in           the source of each net first
    cost : (nnets,) int64, in
    part : (nvtxs,) int32, in
    nparts : int
    stamp : (nparts,) int64, scratch    -1 everywhere
    connectivity : (nnets,) int64, out  number of parts with a pin of the net
    send : (nparts,) int64, in and out  0 before
    receive : (nparts,) int64, in and out   0 before
    flow : (npins,) int64, out          sender * nparts + receiver, one entry per net and receiving part
    """
    count = 0
    for e in range(len(cost)):
        sender = part[pins[xpins[e]]]
        stamp[sender] = e
        touched = 1
        for i in range(xpins[e] + 1, xpins[e + 1]):
            p = part[pins[i]]
            if stamp[p] != e:
                stamp[p] = e
                touched += 1
                receive[p] += cost[e]
                flow[count] = sender * nparts + p
                count += 1
        connectivity[e] = touched
        send[sender] += cost[e] * (touched - 1)
    return count
