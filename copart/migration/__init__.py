"""Who sends how much to whom when M parts become N: `matrix` chooses it (by `groups` and `trees`), `plan` lists it."""
