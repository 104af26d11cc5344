"""What people look at: tables of figures and pictures of parts."""

from .tables import COMPARISON_COLUMNS, Table, comparison_table, component_table, pair_table

__all__ = ["COMPARISON_COLUMNS", "Table", "comparison_table", "component_table", "pair_table"]
