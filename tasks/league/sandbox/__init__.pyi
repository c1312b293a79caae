# The answer with what its program came to on the question's examples.
from .programs import run_answer as run_answer

# What the asker's own program comes to on its own examples.
from .programs import run_reference as run_reference
