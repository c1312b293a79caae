# A number in (0, 1) fixed by the parts.
from .profile import draw_uniform as draw_uniform

# The key as JSON lines, one per question of the bank (columns of the lake table `bank`).
from .key import build_answer_key as build_answer_key

# What each simulated model can do, from plain data; raises UsageError.
from .profile import parse_profile as parse_profile

# A simulated server that runs in a thread of this process, with its address and what it was asked.
from .server import RunningServer as RunningServer

# Start one on a free port of this machine; it answers when this returns.
from .server import start_model_server as start_model_server

# The one answer that every simulated candidate comes close to, more or less.
from .texts import write_model_answer as write_model_answer

# Marks simulated responses to questions of a bank as an errorless person would.
from .key import ErrorlessMarker as ErrorlessMarker
