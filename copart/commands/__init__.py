"""The subcommands of ``copart``, one module each.

Every module has ``add_arguments(parser)``, which costs nothing to import, and
``run(args, console) -> int``, which imports what it needs and returns the exit
status.  Together with ``copart.cli`` these are the only modules that print.
"""
