"""What an administrator would check by hand, as `proctor doctor` shows it: one finding a line, each with what to do."""

from deployments.doctor.examine import examine_home
from deployments.doctor.findings import Finding

__all__ = ["Finding", "examine_home"]
