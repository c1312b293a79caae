# Every finding. Rows are looked at where their own store can be relied on, whatever is wrong with the others.
from .examine import examine_home as examine_home

# Takes a finding: what was looked at, what was found, whether it is fine, and what mends it otherwise.
from .findings import NoteFinding as NoteFinding

# The lines of `proctor doctor --repair`.
from .repairing import describe_repair as describe_repair
