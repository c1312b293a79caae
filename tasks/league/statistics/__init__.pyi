# What the files do not say themselves.
from .importing import ImportRequest as ImportRequest

# Read all files, then land them with their league and its candidates, all or nothing.
from .importing import import_scores as import_scores

# Compute every statistic of a league and land it; computed again with another seed it takes the place of the earlier one.
from .landing import write_statistics as write_statistics

# What is drawn.
from .tables import StatisticsRequest as StatisticsRequest
