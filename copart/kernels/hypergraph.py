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


@kernel
def contract_nets(xpins, pins, cmap, stamp, coarse_xpins, coarse_pins, kept):
    """Nets of the coarse vertices, each of these once and the source in front; returns the number of nets.

    Nets within one coarse vertex are left out.

    xpins : (nnets + 1,) int64, in
    pins : (npins,) int32, in               the source of each net first
    cmap : (nvtxs,) int32, in               coarse vertex of each vertex
    stamp : (ncoarse,) int64, scratch       -1 everywhere
    coarse_xpins : (nnets + 1,) int64, out  as far as there are nets
    coarse_pins : (npins,) int32, out       as far as there are pins
    kept : (nnets,) int32, out              the net that each coarse net was
    """
    count = 0
    top = 0
    coarse_xpins[0] = 0
    for e in range(len(xpins) - 1):
        begin = top
        for i in range(xpins[e], xpins[e + 1]):
            c = cmap[pins[i]]
            if stamp[c] != e:
                stamp[c] = e
                coarse_pins[top] = c
                top += 1
        if top - begin > 1:
            kept[count] = e
            count += 1
            coarse_xpins[count] = top
        else:
            top = begin
    return count
