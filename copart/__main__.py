"""``python -m copart``, and the program ``copart``."""

from __future__ import annotations


def main() -> int:
    """Run the command line; also an interrupt while it is being loaded is said in one line."""
    try:
        from .cli import main as run
        from .commands.memory import keep_freed

        keep_freed()
        return run()
    except KeyboardInterrupt:
        import sys

        if sys.stderr is not None:
            print("copart: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
