# The card of the question whose UUID begins so; raises UsageError for none, or for several questions.
from .retirement import read_card as read_card

# The bank version in which a question was last retired, or came back, and how many did so with it.
from .retirement import count_moved as count_moved

# The latest entry of the question whose UUID begins so; raises UsageError for none, or for several questions.
from .retirement import find_question as find_question

# Take a question back in that was retired; an original brings its lineage. Doing it twice changes nothing.
from .retirement import restore_question as restore_question

# Take a question out; an original takes its lineage with it. Doing it twice changes nothing.
from .retirement import retire_question as retire_question
