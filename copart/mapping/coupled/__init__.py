"""The processes of a coupled run on a machine: their graph (`processes`), and ways to place them (`placements`)."""
