# Gathers the calls of models that take batches; what other models are asked is sent singly.
from .batching import BatchClient as BatchClient

# Ask the provider to stop a batch; returns what it says. What is done by then is collected, and paid for.
from .collection import cancel_open_batch as cancel_open_batch

# Look at every batch that may still answer, and book the results of those that have ended.
from .collection import collect_batches as collect_batches
