# Compare every unit of every stage with what closed it.
from .stages import check_stages as check_stages

# Close the report as it was written.
from .files import close_report as close_report

__all__ = [
    "check_stages",
    "close_report",
]
