# Write what waits for this person; a text beyond what a cell holds is cut, and marked. Raises UsageError for no league.
from .verdicts import export_waiting as export_waiting

# Land what a person decided. The same workbook again changes nothing: what is decided waits no longer.
from .verdicts import import_decisions as import_decisions

# Land verdicts of one person, whatever the channel; what waits no longer is counted and left.
from .verdicts import land_verdicts as land_verdicts

# What a person says of a question or a flagged answer, by its key: it may stand, or it is memorised.
from .verdicts import PersonVerdict as PersonVerdict

# What a person is still to decide on in a league, by key: questions, and answers taken for memorised.
from .verdicts import read_waiting as read_waiting
