"""Mesh files in: :mod:`.reading` is the door, one module (or a few) behind it for each format."""
