# How a table stands to its rules.
from .data_docs import TableCounts as TableCounts

# Write the pages into `folder`, in place of those of an earlier time; returns the path of its `index.html`.
from .data_docs import write_data_docs as write_data_docs

# Whether the rows of a table name their month.
from .suite import has_months as has_months

# Stretches that cover the table (or one month of it) once, of about `rows` rows; a larger unit is one by itself.
from .suite import list_stretches as list_stretches

# The rows of one stretch after the other, with the columns that rules name.
from .suite import read_stretches as read_stretches

# What `find_refusals` finds, found by Great Expectations. `frame` needs only the columns that rules name.
from .suite import find_suite_refusals as find_suite_refusals
