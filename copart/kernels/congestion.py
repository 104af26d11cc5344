"""Swaps that relieve the most congested link (U_MC and U_MMC).

(M. Deveci, Load-Balancing and Task Mapping for Exascale Systems, Ohio State 2015, chapter 7.)
"""

from typing import Any, NamedTuple

import numpy as np

from . import inner, kernel
from .routes import route
from .sites import may_trade, next_site, start_walk, trade


class Links(NamedTuple):
    """What links carry: carried (nlinks,) int64; route (longest,) int64 scratch; state (4,) float64: links with at
    least the congestion `top`, links with more, sum of the congestion of all, links in use; share (n,) int64 scratch,
    what each group has on a link."""

    carried: Any
    route: Any
    state: Any
    share: Any


@inner
def change_link(code, links, top, link, weight):
    """Add data to a link, or take it away, and keep the state.

    code : RouteCode, in
    links : Links, in and out
    top : float
    link, weight : int
    """
    old = links.carried[link] / code.bandwidth[link]
    links.carried[link] += weight
    new = links.carried[link] / code.bandwidth[link]
    links.state[0] += int(new >= top) - int(old >= top)
    links.state[1] += int(new > top) - int(old > top)
    links.state[2] += new - old
    links.state[3] += int(new > 0) - int(old > 0)


@inner
def change_routes(code, links, groups, places, site, top, a, b, sign):
    """Add the messages of groups a and b (-1: none) to their links, or take them away.

    code : RouteCode, in
    links : Links, in and out
    groups : Groups, in
    places : Places, in
    site : (n,) int32, in
    top : float
    a, b : int
    sign : int              1 or -1
    """
    for turn in range(2):
        t = b if turn else a
        if t < 0:
            continue
        p = places.point[site[t]]
        for e in range(groups.xadj[t], groups.xadj[t + 1]):
            v = groups.adjncy[e]
            if turn and v == a:
                continue
            q = places.point[site[v]]
            if p == q:
                continue
            if groups.out[e] > 0:
                for i in range(route(code, p, q, links.route)):
                    change_link(code, links, top, links.route[i], sign * groups.out[e])
            if groups.into[e] > 0:
                for i in range(route(code, q, p, links.route)):
                    change_link(code, links, top, links.route[i], sign * groups.into[e])


@kernel
def survey_links(code, links):
    """The most congested link, the first of several; the state is counted anew for its congestion.

    code : RouteCode, in
    links : Links, in and out
    """
    worst = 0
    top = 0.0
    total = 0.0
    used = 0
    at = 0
    for link in range(len(links.carried)):
        if links.carried[link] > 0:
            vc = links.carried[link] / code.bandwidth[link]
            total += vc
            used += 1
            if vc > top:
                worst, top, at = link, vc, 1
            elif vc == top:
                at += 1
    links.state[0], links.state[1], links.state[2], links.state[3] = at, 0, total, used
    return worst


@inner
def share_link(code, links, groups, places, site, link):
    """What each group sends or gets over a link.

    code : RouteCode, in
    links : Links, in and out       the shares
    groups : Groups, in
    places : Places, in
    site : (n,) int32, in
    link : int
    """
    for t in range(len(site)):
        links.share[t] = 0
    for t in range(len(site)):
        p = places.point[site[t]]
        for e in range(groups.xadj[t], groups.xadj[t + 1]):
            v = groups.adjncy[e]
            q = places.point[site[v]]
            if groups.out[e] > 0 and p != q:
                for i in range(route(code, p, q, links.route)):
                    if links.route[i] == link:
                        links.share[t] += groups.out[e]
                        links.share[v] += groups.out[e]


@kernel
def load_routes(code, links, groups, places, site):
    """Add all messages to their links, which carry none before.

    code : RouteCode, in
    links : Links, in and out
    groups : Groups, in
    places : Places, in
    site : (n,) int32, in
    """
    for link in range(len(links.carried)):
        links.carried[link] = 0
    for t in range(len(site)):
        for e in range(groups.xadj[t], groups.xadj[t + 1]):
            p, q = places.point[site[t]], places.point[site[groups.adjncy[e]]]
            if groups.out[e] > 0 and p != q:
                for i in range(route(code, p, q, links.route)):
                    links.carried[links.route[i]] += groups.out[e]


@kernel
def swap_relieves(code, links, groups, places, site, owner, top, a, m):
    """Swap group a to site m if that lowers the congestion, else leave all as it is; returns whether.

    Lower is, in this order: a smaller maximum, fewer links that have it, a smaller mean over the links in use.

    code : RouteCode, in
    links : Links, in and out
    groups : Groups, in
    places : Places, in
    site : (n,) int32, in and out
    owner : (nsites,) int32, in and out
    top : float             the maximum now
    a, m : int
    """
    b, own = np.int64(owner[m]), np.int64(site[a])
    at, total, used = links.state[0], links.state[2], links.state[3]
    change_routes(code, links, groups, places, site, top, a, b, -1)
    trade(site, owner, a, b, m)
    change_routes(code, links, groups, places, site, top, a, b, 1)
    if links.state[1] == 0 and (links.state[0] < at or (links.state[0] == at and links.state[2] * used < total *
                                                        links.state[3] * (1 - 1e-9))):
        return True
    change_routes(code, links, groups, places, site, top, a, b, -1)
    trade(site, owner, a, b, own)
    change_routes(code, links, groups, places, site, top, a, b, 1)
    # sums of fractions do not return to where they were
    links.state[2] = total
    return False


@kernel
def relieve_links(code, links, groups, places, most, limit, site, owner, walk):
    """Swap groups with messages on the most congested link with ones near their neighbours, while that lowers it.

    Groups with most data on it come first.  Returns the swaps made, at most `limit`.

    code : RouteCode, in
    links : Links, scratch
    groups : Groups, in
    places : Places, in
    most : int              sites tried for each group
    limit : int
    site : (n,) int32, in and out
    owner : (nsites,) int32, in and out
    walk : Walk, scratch
    """
    salt = np.int64(0)
    swaps = 0
    for m in range(len(owner)):
        walk.stamp[m] = -1
    load_routes(code, links, groups, places, site)
    better = True
    while better and swaps < limit:
        better = False
        link = survey_links(code, links)
        top = links.carried[link] / code.bandwidth[link]
        share_link(code, links, groups, places, site, link)
        while not better:
            t = np.argmax(links.share)
            if links.share[t] <= 0:
                break
            links.share[t] = 0
            count = start_walk(groups, places, site, t, walk)
            salt += 1
            tried = 0
            while tried < most and not better:
                m = next_site(places, walk, count, salt)
                if m < 0:
                    break
                if may_trade(groups, places, site, owner, t, m):
                    tried += 1
                    better = swap_relieves(code, links, groups, places, site, owner, top, t, m)
        if better:
            swaps += 1
    return swaps
