"""Measurements, with their results recorded beside them."""
