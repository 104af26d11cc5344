"""Identical rows by checksums, sorted or hashed, and footprints of similar ones.

Rows are in compressed form, ``xids`` (nrows+1,) int64 and ``ids`` (nids,) int32, and identical where all entries are,
in their order.  ``counts`` (3,) int64 gathers comparisons of rows that share a checksum and are not identical, further
entries looked at in chains, and first rows that share a checksum with an earlier one.  Sums of checksums are modulo
2^62.
"""

import numpy as np

from . import inlined, inner, kernel
from .rng import MASK, mix

_LOW = 2**31 - 1
_MOST = 2**62 - 1


@kernel
def power(number, exponent):
    """`number` to the power of 1, 2 or 3, modulo 2^62.

    number : int    0 to 2^31 - 1
    exponent : int
    """
    if exponent == 1:
        return number
    square = number * number
    if exponent == 2:
        return square
    return ((((square >> 31) * number & _LOW) << 31) + (square & _LOW) * number) & _MOST


@inner
def times32(a, b):
    """Product of two numbers below 2^32, modulo 2^32, without leaving 64 bits.

    a, b : int
    """
    return (((a * (b >> 16) & 0xFFFF) << 16) + a * (b & 0xFFFF)) & MASK


@kernel
def murmur(ids, begin, end):
    """MurmurHash3 (32 bits, seed 0) of ids[begin..end], which depends on their order.

    ids : (nids,) int32, in
    begin, end : int
    """
    h = 0
    for i in range(begin, end):
        k = times32(np.int64(ids[i]) & MASK, 0xCC9E2D51)
        k = times32(((k << 15) | (k >> 17)) & MASK, 0x1B873593)
        h ^= k
        h = ((h << 13) | (h >> 19)) & MASK
        h = (h * 5 + 0xE6546B64) & MASK
    h ^= 4 * (end - begin) & MASK
    h = times32(h ^ (h >> 16), 0x85EBCA6B)
    h = times32(h ^ (h >> 13), 0xC2B2AE35)
    return h ^ (h >> 16)


@kernel
def checksums(lo, hi, xids, ids, exponent, behind, key):
    """Checksums of the rows lo..hi: sums of powers of their entries, counted from 1, or MurmurHash3.

    lo, hi : int
    xids : (nrows + 1,) int64, in
    ids : (nids,) int32, in
    exponent : int              1, 2 or 3; 0 for MurmurHash3
    behind : int                the first entry of a row counts once more, as if it were `behind` later; -1 for not
    key : (nrows,) int64, out
    """
    for e in range(lo, hi):
        total = 0
        if exponent == 0:
            total = murmur(ids, xids[e], xids[e + 1])
        else:
            for i in range(xids[e], xids[e + 1]):
                total = (total + power(np.int64(ids[i]) + 1, exponent)) & _MOST
            if behind >= 0 and xids[e] < xids[e + 1]:
                total = (total + power((np.int64(ids[xids[e]]) + 1 + behind) & _LOW, exponent)) & _MOST
        key[e] = total


@inlined
def same(xids, ids, a, b):
    """Whether two rows are identical.

    xids : (nrows + 1,) int64, in
    ids : (nids,) int32, in
    a, b : int
    """
    size = xids[a + 1] - xids[a]
    if xids[b + 1] - xids[b] != size:
        return False
    i = 0
    while i < size and ids[xids[a] + i] == ids[xids[b] + i]:
        i += 1
    return i == size


@kernel
def identical_by_sorting(lo, hi, xids, ids, key, order, rep, found, counts):
    """First row of those identical to each row of order[lo..hi], which is sorted by checksums.

    lo, hi : int                    where a run of equal checksums begins
    xids : (nrows + 1,) int64, in
    ids : (nids,) int32, in
    key : (nrows,) int64, in
    order : (nrows,) int64, in      rows by checksums, those of a checksum ascending
    rep : (nrows,) int32, out
    found : (nrows,) int32, scratch, own from lo to hi
    counts : (3,) int64, in and out, own
    """
    begin = lo
    many = 0
    for i in range(lo, hi):
        e = order[i]
        if i == begin or key[e] != key[order[i - 1]]:
            begin = i
            many = 0
        first = e
        for j in range(many):
            r = found[begin + j]
            if same(xids, ids, e, r):
                first = r
                break
            counts[0] += 1
        if first == e:
            counts[2] += many > 0
            found[begin + many] = e
            many += 1
        rep[e] = first


@kernel
def identical_by_hashing(xids, ids, key, first, after, rep, counts):
    """First row of those identical to each row; chains hold one row of each kind.

    xids : (nrows + 1,) int64, in
    ids : (nids,) int32, in
    key : (nrows,) int64, in
    first : (nslots,) int32, in and out     first row of each chain, -1 everywhere before
    after : (nrows,) int32, in and out      next row of a chain, -1 everywhere before
    rep : (nrows,) int32, out
    counts : (3,) int64, in and out
    """
    slots = len(first)
    for e in range(len(key)):
        slot = key[e] % slots
        rep[e] = e
        c = first[slot]
        if c < 0:
            first[slot] = e
            continue
        shares = 0
        while True:
            if key[c] == key[e]:
                if same(xids, ids, e, c):
                    rep[e] = c
                    break
                counts[0] += 1
                shares = 1
            if after[c] < 0:
                after[c] = e
                counts[2] += shares
                break
            c = after[c]
            counts[1] += 1


@kernel
def chain_all(key, first, after):
    """Chains of all rows, ascending in each; nothing is compared.

    key : (nrows,) int64, in
    first : (nslots,) int32, in and out     -1 everywhere before
    after : (nrows,) int32, out
    """
    slots = len(first)
    for e in range(len(key) - 1, -1, -1):
        slot = key[e] % slots
        after[e] = first[slot]
        first[slot] = e


@kernel
def thin_chains(lo, hi, xids, ids, key, first, after, rep, counts):
    """Take the rows that are identical to an earlier one out of the chains lo..hi.

    lo, hi : int
    xids : (nrows + 1,) int64, in
    ids : (nids,) int32, in
    key : (nrows,) int64, in
    first : (nslots,) int32, in
    after : (nrows,) int32, in and out
    rep : (nrows,) int32, out
    counts : (3,) int64, in and out, own
    """
    for slot in range(lo, hi):
        last = first[slot]
        if last < 0:
            continue
        rep[last] = last
        e = after[last]
        while e >= 0:
            rep[e] = e
            c = first[slot]
            shares = 0
            while True:
                if key[c] == key[e]:
                    if same(xids, ids, e, c):
                        rep[e] = c
                        break
                    counts[0] += 1
                    shares = 1
                if c == last:
                    counts[2] += shares
                    break
                c = after[c]
                counts[1] += 1
            onward = after[e]
            if rep[e] == e:
                after[last] = e
                last = e
            e = onward
        after[last] = -1


@kernel
def number_classes(xids, rep, number, first):
    """Numbers of the classes by their first rows, each row without entries in its own; returns how many.

    xids : (nrows + 1,) int64, in
    rep : (nrows,) int32, in        first row of those identical to each row
    number : (nrows,) int32, out
    first : (nrows,) int32, out     first row of each class, as far as there are classes
    """
    count = 0
    for e in range(len(rep)):
        r = rep[e]
        if r == e or xids[e] == xids[e + 1]:
            number[e] = count
            first[count] = e
            count += 1
        else:
            number[e] = number[r]
    return count


@kernel
def footprints(lo, hi, xpins, pins, chosen, times, salt, columns, out):
    """For each net, the pins that come first in each of some pseudo-random orders of all vertices.

    lo, hi : int                        places in `chosen`
    xpins : (nnets + 1,) int64, in
    pins : (npins,) int32, in
    chosen : (nchosen,) int32, in       the nets
    times : int                         number of orders
    salt : int                          of the first order, those behind it count on
    columns : int                       entries in a row of `out`; the last is the source where it is not `times`
    out : (nchosen * columns,) int32, out
    """
    for c in range(lo, hi):
        e = chosen[c]
        for t in range(times):
            best = pins[xpins[e]]
            least = mix(best, salt + t)
            for i in range(xpins[e] + 1, xpins[e + 1]):
                rank = mix(pins[i], salt + t)
                if rank < least:
                    least = rank
                    best = pins[i]
            out[c * columns + t] = best
        if columns > times:
            out[c * columns + times] = pins[xpins[e]]


@kernel
def represent_classes(xpins, pins, cost, start, members, union, weigh, cover, out_xpins, out_pins):
    """Pins that stand for each class of nets: of one of its nets, or of all; returns how many pins.

    xpins : (nnets + 1,) int64, in
    pins : (npins,) int32, in               the source of each net first
    cost : (nnets,) int64, in
    start : (nclasses + 1,) int64, in       where the members of each class begin
    members : (nnets,) int32, in            ascending in each class
    union : bool                            all pins of the class, those of its first net in front
    weigh : bool                            else: the net whose pins are in the most costly nets of the class, not the
                                            largest
    cover : (nvtxs,) int64, scratch         0 everywhere
    out_xpins : (nclasses + 1,) int64, out
    out_pins : (npins,) int32, out
    """
    top = 0
    out_xpins[0] = 0
    for k in range(len(start) - 1):
        chosen = members[start[k]]
        if union:
            for m in range(start[k], start[k + 1]):
                for i in range(xpins[members[m]], xpins[members[m] + 1]):
                    v = pins[i]
                    if cover[v] == 0:
                        cover[v] = 1
                        out_pins[top] = v
                        top += 1
        else:
            if weigh:
                for m in range(start[k], start[k + 1]):
                    for i in range(xpins[members[m]], xpins[members[m] + 1]):
                        cover[pins[i]] += cost[members[m]]
            most = -1
            for m in range(start[k], start[k + 1]):
                e = members[m]
                value = xpins[e + 1] - xpins[e]
                if weigh:
                    value = 0
                    for i in range(xpins[e], xpins[e + 1]):
                        value += cover[pins[i]]
                if value > most:
                    most = value
                    chosen = e
            for i in range(xpins[chosen], xpins[chosen + 1]):
                out_pins[top] = pins[i]
                top += 1
        for m in range(start[k], start[k + 1]):
            for i in range(xpins[members[m]], xpins[members[m] + 1]):
                cover[pins[i]] = 0
        out_xpins[k + 1] = top
    return top
