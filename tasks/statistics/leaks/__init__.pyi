# Expected stars of a candidate on each question, at the ability that gives its mean stars.
from .gain import expect_stars as expect_stars

# Stars = α of the candidate + β · expected + gain · met; errors clustered by lineage.
from .gain import find_leak as find_leak

# What an organisation gains on questions that were met before.
from .gain import Leak as Leak

# The posterior from which an organisation is named as the leaker.
from .tracing import ACCUSED as ACCUSED

# The prior that nobody leaked.
from .tracing import PRIOR_NOBODY as PRIOR_NOBODY

# Shared out equally over the coalitions of one, of two and of three organisations.
from .tracing import PRIOR_SIZES as PRIOR_SIZES

# What a leak says of who it came from: probabilities, given the assumptions of this module.
from .tracing import Suspicion as Suspicion

# The probability of each organisation and coalition.
from .tracing import trace_leak as trace_leak
