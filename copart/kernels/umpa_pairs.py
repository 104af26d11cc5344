"""The nets that flow from one part to another: a hash table of pairs of parts, and the messages that follow from it."""

import numpy as np

from . import inlined, inner, kernel


@inner
def place_of(key, pair):
    """Where a pair is in the hash table, or the free place where it would be.

    key : (2^j,) int64, in
    pair : int
    """
    mask = len(key) - 1
    at = ((pair * 40503) ^ (pair >> 9)) & mask
    while key[at] >= 0 and key[at] != pair:
        at = (at + 1) & mask
    return at


@inlined
def nets_between(s, p, q):
    """How many nets flow from part p to part q.

    s : Flow, in
    p, q : int
    """
    at = place_of(s.key, np.int64(p) * len(s.load) + q)
    return s.count[at] if s.key[at] >= 0 else 0


@inlined
def worth_of(s, nets):
    """What a message of so many nets counts.

    s : Flow, in
    nets : int
    """
    return s.worth[min(nets, len(s.worth) - 1)]


@inner
def book(s, p, change):
    """Book a change of the messages of part p, counted softly.

    s : Flow, in and out
    p : int
    change : float
    """
    k = len(s.load)
    listed = s.change[p] != 0.0
    if not listed:
        # changes may have taken one another back
        for j in range(s.who[k]):
            listed |= s.who[j] == p
    if not listed:
        s.who[s.who[k]] = p
        s.who[k] += 1
    s.change[p] += change


@kernel
def count_softly(s):
    """Count the messages of all parts softly.

    s : Flow, in and out
    """
    s.soft[:] = 0.0
    s.change[:] = 0.0
    s.who[:] = 0
    for at in range(len(s.key)):
        if s.key[at] >= 0 and s.count[at] > 0:
            s.soft[s.key[at] // len(s.load)] += worth_of(s, s.count[at])


@inlined
def add_flow(s, p, q, by):
    """Count nets from part p to part q, `by` more; messages follow.

    s : Flow, in and out
    p, q, by : int                  by is 1 or -1
    """
    pair = np.int64(p) * len(s.load) + q
    at = place_of(s.key, pair)
    if s.key[at] < 0:
        s.key[at] = pair
        s.count[at] = 0
        s.total[2] += 1
    before = s.count[at]
    s.count[at] = before + by
    if before == 0:
        s.messages[p] += 1
        s.total[1] += 1
    elif before + by == 0:
        s.messages[p] -= 1
        s.total[1] -= 1
    if len(s.worth):
        book(s, p, worth_of(s, before + by) - worth_of(s, before))


@kernel
def rehash(key, count, new_key, new_count):
    """Put the pairs that have nets into another table; returns how many there are.

    key, count : (2^j,) int64, in
    new_key, new_count : (2^i,) int64, in and out       -1 and 0 before
    """
    pairs = 0
    for at in range(len(key)):
        if key[at] >= 0 and count[at] > 0:
            to = place_of(new_key, key[at])
            new_key[to] = key[at]
            new_count[to] = count[at]
            pairs += 1
    return pairs


@inlined
def has_room(s):
    """Whether the hash table takes one more move.

    s : Flow, in
    """
    # there are no more pairs than these
    pairs = min(s.total[2] + s.total[3], len(s.load) * len(s.load))
    return len(s.key) == 0 or 8 * pairs <= 7 * len(s.key)
