"""Damage to the bytes of a file, as transfers, editors, other programs and bad luck do it."""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from collections.abc import Callable

import numpy as np

WORD = re.compile(rb"[^\s(){};,<>\"=]+")
NUMBER = re.compile(rb"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
#: What a number may turn into.
STRANGE = [b"-1", b"0", b"1", b"-0", b"2147483647", b"2147483648", b"-2147483648", b"4294967296",
           b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"18446744073709551616",
           b"1000000000000000000", b"1e18",
           b"1e400", b"-1e308", b"1e308", b"1e-320", b"nan", b"NaN", b"inf", b"-inf", b"0x10", b"1_000", b"1.5", b"1e3",
           b"9" * 400, b"", b"-", b".", b"\xd9\xa1", b"%", b"a", b"99999999", b"300000000", b"7", b"3"]
#: What stands in binary files instead of a number.
RAW = [struct.pack(form, value) for form, values in (
    ("<i", (-1, 0, 1, 2**31 - 1, -2**31, 10**9)), ("<q", (-1, 2**62, 2**63 - 1, -2**63, 10**18, 2**40)),
    ("<d", (float("nan"), float("inf"), 1e308, -1e-320)), ("<f", (float("nan"), float("inf")))) for value in values]
BRACKETS = (b"(", b"[", b"{", b"<a>", b'"', b"/*", b"\n", b" ", b"\0", b"$", b"*INCLUDE,INPUT=a\n", b"1 ")

Random = np.random.Generator
Operation = Callable[[bytes, Random], bytes]


def _place(data: bytes, rng: Random) -> int:
    """Somewhere, at the beginning as often as anywhere else: headers are short."""
    return int(rng.integers(0, min(len(data), 200) + 1 if rng.random() < 0.3 else len(data) + 1))


def _span(pattern: re.Pattern[bytes], data: bytes, rng: Random) -> tuple[int, int]:
    """Where one of the matches is, near a place."""
    start = max(_place(data, rng) - 20, 0)
    found = pattern.search(data, start, start + 5000) or pattern.search(data)
    return found.span() if found else (0, 0)


def _line(data: bytes, rng: Random) -> tuple[int, int]:
    """Where a line is, with its end."""
    at = _place(data, rng)
    stop = data.find(b"\n", at)
    return data.rfind(b"\n", 0, at) + 1, len(data) if stop < 0 else stop + 1


def truncate(data: bytes, rng: Random) -> bytes:
    return data[:_place(data, rng)]


def behead(data: bytes, rng: Random) -> bytes:
    return data[_place(data, rng):]


def flip_bits(data: bytes, rng: Random) -> bytes:
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 9)) if out else 0):
        out[min(_place(data, rng), len(out) - 1)] ^= 1 << int(rng.integers(8))
    return bytes(out)


def change_bytes(data: bytes, rng: Random) -> bytes:
    at, size = _place(data, rng), int(rng.integers(1, 9))
    return data[:at] + rng.bytes(size) + data[at + size:]


def insert_bytes(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.bytes(int(rng.integers(1, 40))) + data[at:]


def cut_out(data: bytes, rng: Random) -> bytes:
    at, size = _place(data, rng), int(rng.integers(1, 200))
    return data[:at] + data[at + size:]


def swap_pieces(data: bytes, rng: Random) -> bytes:
    a, b, c, d = sorted(_place(data, rng) for _ in range(4))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def reverse_bytes(data: bytes, rng: Random) -> bytes:
    width, at = int(rng.choice([2, 4, 8])), _place(data, rng)
    return data[:at] + data[at:at + width][::-1] + data[at + width:]


def delete_lines(data: bytes, rng: Random) -> bytes:
    start, stop = _line(data, rng)
    for _ in range(int(rng.integers(0, 3))):
        stop = (data.find(b"\n", stop) + 1) or len(data)
    return data[:start] + data[stop:]


def repeat_line(data: bytes, rng: Random) -> bytes:
    start, stop = _line(data, rng)
    times = min(int(rng.choice([1, 1, 2, 1000])), 1 + 10**6 // (stop - start + 1))
    return data[:stop] + data[start:stop] * times + data[stop:]


def swap_lines(data: bytes, rng: Random) -> bytes:
    (a, b), (c, d) = sorted([_line(data, rng), _line(data, rng)])
    return data if b > c else data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def strange_number(data: bytes, rng: Random) -> bytes:
    start, stop = _span(NUMBER, data, rng)
    return data[:start] + STRANGE[rng.integers(len(STRANGE))] + data[stop:]


def off_by_one(data: bytes, rng: Random) -> bytes:
    start, stop = _span(re.compile(rb"\d{1,18}"), data, rng)
    if start == stop:
        return data
    return data[:start] + str(int(data[start:stop]) + int(rng.choice([-1, 1]))).encode() + data[stop:]


def negate(data: bytes, rng: Random) -> bytes:
    start, _ = _span(NUMBER, data, rng)
    return data[:start] + b"-" + data[start:]


def delete_word(data: bytes, rng: Random) -> bytes:
    start, stop = _span(WORD, data, rng)
    return data[:start] + data[stop:]


def repeat_word(data: bytes, rng: Random) -> bytes:
    start, stop = _span(WORD, data, rng)
    return data[:stop] + b" " + data[start:stop] + data[stop:]


def other_word(data: bytes, rng: Random) -> bytes:
    (a, b), (c, d) = _span(WORD, data, rng), _span(WORD, data, rng)
    return data[:a] + data[c:d] + data[b:]


def other_case(data: bytes, rng: Random) -> bytes:
    start, stop = _span(WORD, data, rng)
    return data[:start] + data[start:stop].swapcase() + data[stop:]


def raw_number(data: bytes, rng: Random) -> bytes:
    raw = RAW[rng.integers(len(RAW))]
    at = _place(data, rng)
    at -= at % 4 if rng.random() < 0.5 else 0
    return data[:at] + raw + data[at + len(raw):]


def line_ends(data: bytes, rng: Random) -> bytes:
    return data.replace(b"\n", (b"\r\n", b"\r", b"\n\n", b" ", b"")[rng.integers(5)])


def zero_bytes(data: bytes, rng: Random) -> bytes:
    at, size = _place(data, rng), int(rng.choice([1, 16, 512, 4096]))
    return data[:at] + bytes(len(data[at:at + size])) + data[at + size:]


def pile_up(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + BRACKETS[rng.integers(len(BRACKETS))] * int(rng.choice([1, 100, 100_000])) + data[at:]


def empty(data: bytes, rng: Random) -> bytes:
    return (b"", b"\n", b" \n\t\n", b"\0" * 100, b"\xef\xbb\xbf")[rng.integers(5)]


def rubbish(data: bytes, rng: Random) -> bytes:
    return rng.bytes(int(rng.integers(1, 3000)))


def mark_in_front(data: bytes, rng: Random) -> bytes:
    return (b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"\n\n", b"#", b"\0")[rng.integers(6)] + data


def twice(data: bytes, rng: Random) -> bytes:
    return data + data


PLAIN: list[Operation] = [
    truncate, truncate, behead, flip_bits, change_bytes, insert_bytes, cut_out, swap_pieces, reverse_bytes,
    delete_lines, repeat_line, swap_lines, strange_number, strange_number, strange_number, off_by_one, off_by_one,
    negate, delete_word, repeat_word, other_word, other_case, raw_number, raw_number, line_ends, zero_bytes,
    pile_up, empty, rubbish, mark_in_front, twice]


def mutate(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Damaged bytes, and what was done; gzip files are damaged inside as often as outside."""
    zipped = data[:2] == b"\x1f\x8b" and rng.random() < 0.5
    if zipped:
        data = gzip.decompress(data)
    done = ["gzip"] if zipped else []
    most = 4 * len(data) + 500_000
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        operation = PLAIN[rng.integers(len(PLAIN))]
        data = operation(data, rng)[:most]
        done.append(operation.__name__)
    if zipped:
        data = gzip.compress(data, 1, mtime=0)
        if rng.random() < 0.1:
            # a sound stream of the wrong kind
            data = zlib.compress(data)
    return data, " ".join(done)
