"""How interfaces are laid on processes: over how many parts (`counts`), whole in one (`uncut`), at what `price`."""
