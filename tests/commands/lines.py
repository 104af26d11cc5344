"""What a command says when something is wrong."""

from __future__ import annotations

from copart.cli import main


def told(err: str) -> str:
    """What is said on stderr beside the steps of a long work."""
    return "".join(line for line in err.splitlines(keepends=True) if not line.endswith(" ...\n"))


def line_of(capsys, *arguments: object, status: int = 2) -> str:
    """The only line that a command says on its way to a status."""
    try:
        found = main([*map(str, arguments)])
    except SystemExit as stop:
        found = stop.code
    out, err = capsys.readouterr()
    err = told(err)
    assert (found, out) == (status, "")
    assert err.count("\n") == 1, err
    assert "unexpected" not in err, err
    assert err[:-1].isprintable(), repr(err)
    return err
