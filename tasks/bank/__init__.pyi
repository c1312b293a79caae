# The card of the question whose UUID begins so; raises UsageError for none, or for several questions.
from .retirement import read_card as read_card

# The latest entry of the question whose UUID begins so; raises UsageError for none, or for several questions.
from .retirement import find_question as find_question

# Take a question back in that was retired; an original brings its lineage. Doing it twice changes nothing.
from .retirement import restore_question as restore_question

# Take a question out; an original takes its lineage with it. Doing it twice changes nothing.
from .retirement import retire_question as retire_question
