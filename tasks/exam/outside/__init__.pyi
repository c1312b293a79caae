# Runs a program for each question: JSON on its standard input, the answer's text on its standard output.
from .answering import CommandAnswerer as CommandAnswerer

# Asks a model at an OpenAI-compatible endpoint; close it at the end.
from .answering import EndpointAnswerer as EndpointAnswerer

# A model that stands in no registry, by its endpoint's address and its name there.
from .answering import make_own_model as make_own_model

# What a candidate shows to get in: one of a token, a file with one, or a user's name and password.
from .credentials import Credentials as Credentials

# The private key in a PEM file without a password; raises UsageError for anything else.
from .credentials import read_signing_key as read_signing_key

# Where a sitting stands.
from .sitting import OutsideProgress as OutsideProgress

# What came of a sitting.
from .sitting import OutsideReport as OutsideReport

# One session, sat over HTTP.
from .sitting import OutsideSitter as OutsideSitter

# The folder of one sitting; a context manager that keeps other processes out.
from .state import SittingState as SittingState
