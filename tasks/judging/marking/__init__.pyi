# A mark as it stands: the mark, the note beside it (empty for none), when it was given, and whether it has landed.
from .desk import GivenMark as GivenMark

# Another window gave this item a mark that the one who gives this one has not seen; `stands` is it.
from .desk import StaleMarkError as StaleMarkError

# Everything that waits for somebody or that they have done, of all kinds.
from .desk import find_work as find_work

# Keep a mark; the same one again changes nothing.
from .desk import give_mark as give_mark

# Whether the marks of a work are to land now: it is done, or enough of them wait.
from .desk import is_landing_due as is_landing_due

# Land the marks of a work that have not landed, as its workbook's would; how many that were. Twice is once.
from .desk import land_given as land_given

# Land every mark given on the web that has not landed: what a server that died left behind. Rows, by kind.
from .left import land_marks as land_marks

# One work with what of its texts the person may see; raises UsageError for one that is none, and for who may not mark.
from .desk import open_work as open_work

# What the person gave on the web in a work, by item.
from .desk import read_given as read_given

# Whether somebody may see references: an active user with a role for it, and no annotator of no discipline.
from .desk import may_mark as may_mark

# One thing to be marked, without a word on whose it is.
from .work import MarkItem as MarkItem

# One person's work of one kind: a round of a calibration, a sample of failures, what waits in a league.
from .work import Work as Work

# What waits for somebody, before its texts are read: how many items there are, and how many of them have landed.
from .work import WorkSummary as WorkSummary
