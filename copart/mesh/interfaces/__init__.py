"""Where two meshes meet: the search for interedges (`interface`), what it found (`detection`), what it advises."""
