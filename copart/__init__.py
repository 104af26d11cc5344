"""copart: partition coupled simulations with one another in view."""
