# The tables that are validated; an empty name means all, an empty month all months.
from .landed import select_tables as select_tables

# Hold originals, variants and what augmentation refused to all rules and doubts; write the editor's page.
from .questions import check_questions as check_questions

# Every rule by name, in the order of the file.
from .questions import read_rule_notes as read_rule_notes

# Months of which the lake has more sessions, allocations or responses than the ledger has closed, or fewer.
from .stores import find_month_differences as find_month_differences

# Run every check of the lake, compare rows by month with the ledger, and look for scheduled runs that did not happen.
from .task import check_all_stores as check_all_stores

# Hold what has landed to its rules; the pages lie under `PROCTOR_HOME/validation`.
from .task import validate_lake as validate_lake
