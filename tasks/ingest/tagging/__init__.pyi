# What a tagger sees of the lines of a paper.
from .tagger import describe_lines as describe_lines

# The line heads a section.
from .tagger import HEADING as HEADING

# The line goes on with a question.
from .tagger import INSIDE as INSIDE

# The line is an option.
from .tagger import OPTION as OPTION

# The line belongs to no question.
from .tagger import OUTSIDE as OUTSIDE

# A question begins on the line.
from .tagger import START as START

# How far the questions of a reading begin where tags say.
from .tagger import compare_with_tags as compare_with_tags

# The tagger that comes with the program, or another.
from .tagger import open_model as open_model

# The readings that tags make.
from .tagger import propose_by_tags as propose_by_tags

# The tag of every line of a paper.
from .tagger import tag_lines as tag_lines
