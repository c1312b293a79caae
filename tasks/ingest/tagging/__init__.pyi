# What a tagger sees of the lines of a paper.
from .features import describe_lines as describe_lines

# How far the questions of a reading begin where tags say.
from .tagger import compare_with_tags as compare_with_tags

# The readings that tags make.
from .tagger import propose_by_tags as propose_by_tags

# The tag of every line of a paper.
from .tagger import tag_lines as tag_lines

__all__ = [
    "compare_with_tags",
    "describe_lines",
    "propose_by_tags",
    "tag_lines",
]
