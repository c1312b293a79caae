# Batches of calls: what is in each, how far the provider has got with it, and the money that is set aside for it.
from . import batches as batches

# What runs may still spend, over all processes of an installation: spent, and set aside for calls in flight.
from . import budgets as budgets

# Paid LLM calls: started before they are sent, done with their reply, failed with an error class.
from . import calls as calls

# How fast a provider is asked, over all processes and hosts of an installation.
from . import paces as paces
