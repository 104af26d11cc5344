"""Machines, and how processes are placed on them."""
