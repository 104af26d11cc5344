"""Programs to read and to run; the suite runs each of them and asserts its numbers."""
