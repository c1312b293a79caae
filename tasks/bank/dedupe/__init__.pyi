# The groups of rows that ask the same, one row for each question of a group.
from .check import find_clusters as find_clusters

# Publish the next bank version, or find that nothing changed; None when nothing was decided yet.
from .landing import land_bank as land_bank

# The pictures of the bank, by hash, that show what a picture in its normal form shows.
from .looks import find_alike as find_alike

# Look for pairs in the latest bank version and land them for people to look at; returns them with both stems.
from .semantic import land_semantic_pairs as land_semantic_pairs

# Questions by a key each, in memory: those whose words are like those of one of them are found at once.
from .similar import SimilarQuestions as SimilarQuestions

# The same of code points.
from .exact import fold_traditional_codes as fold_traditional_codes

# Publish the next version of the bank without duplicates; the same content is the same version.
from .task import publish_bank as publish_bank
