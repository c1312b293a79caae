# Names of all doubts about `content`, in the order of `DOUBTS`; empty where there is none.
from .doubts import find_doubts as find_doubts

# A row of `review_decisions`, as far as later stages need it.
from .variant import ReviewedQuestion as ReviewedQuestion

# A variant of `parent` that asks `content`, with the UUID of that content.
from .variant import make_variant as make_variant

# The generator of variants that no model wrote.
from .variant import TEMPLATE as TEMPLATE

# A row of `variants`.
from .variant import Variant as Variant

# How a variant came to be.
from .variant import VariantOrigin as VariantOrigin
