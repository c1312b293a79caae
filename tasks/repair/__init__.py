"""The way back for a home that every command refuses because a store lost its log: `proctor doctor --repair`."""

from tasks.repair.repair import Repair, inspect_home, repair_home

__all__ = ["Repair", "inspect_home", "repair_home"]
