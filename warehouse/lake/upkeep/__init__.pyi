# Copy the lake as of one moment into the new folder `dest` (`catalog.sqlite` and `data/`), with its snapshots.
from .backup import backup_lake as backup_lake

# Raise UsageError where settings name a lake that has rows, or a place with files of one.
from .backup import check_empty_lake as check_empty_lake

# Put the backup in `src` where settings say the lake lies; raises UsageError where one already has rows.
from .backup import restore_lake as restore_lake

# How many rows offend against a check; it passes where it passed over files of the same bytes.
from .rechecking import count_offending as count_offending

# Look at rows of files that came since the last look, for the next one.
from .rechecking import look_at_rows as look_at_rows

# What was found in the parts of a lake before, by the bytes of their files, and what is found now.
from .looked import Looked as Looked

# Land the frozen rows of every closed month that has none of its present state; returns how many months.
from .closing import close_months as close_months

# Hash every landed row again, a month at a time, and compare with what `landings` keeps; `step` is told the rows.
# With `looked`, not those of files whose bytes are known.
from .integrity import check_landings as check_landings

# The rows of one landed unit in the contract's own columns; `part` is the value that its file is split by.
from .integrity import read_unit as read_unit

# What lost snapshots landed, in order, as far as files say.
from .lost_landings import find_lost_landings as find_lost_landings

# Land what was lost, moment by moment; returns how many landings. Those whose rows are gone are passed over.
from .lost_landings import land_again as land_again

# A landing that the catalog does not know.
from .lost_landings import LostLanding as LostLanding

# Merge small files, and remove what nothing has needed for `keep_days`: snapshots, files, orphans of killed writers.
from .maintenance import compact_lake as compact_lake

# Merge the small files of months up to one, and of tables that are not split by month; returns how many files were written.
from .maintenance import merge_small_files as merge_small_files

# Write the catalog anew: it keeps the smallest and largest text of these tables, and pages with those of files of before.
from .rewriting import purge_catalog as purge_catalog

# Write the files of these tables anew without the rows that are no more, and delete every file and snapshot of before.
from .rewriting import purge_files as purge_files

# The units as they are to be landed when the texts of these sessions are gone: null in `columns`, all else as it is.
from .rewriting import without_texts as without_texts
