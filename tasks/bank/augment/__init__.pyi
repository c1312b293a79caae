# What the model would be asked about what it has not written yet; nothing is sent and nothing landed.
from .estimate import estimate_writing as estimate_writing

# The methods of augmentation that a model carries out.
from .methods import MODEL_METHODS as MODEL_METHODS

# The methods to use, in the order of `METHODS`; those of the default where none is named.
from .methods import select_methods as select_methods

# Make variants by template of the accepted questions of every batch (or one) that has none yet.
from .task import augment_accepted as augment_accepted

# Release a model's variants whose sample has passed review, refuse those whose sample has not.
from .task import settle_variants as settle_variants

# Let a model write variants of accepted questions, to be held until their sample is reviewed; no model, nothing.
from .task import write_variants as write_variants
