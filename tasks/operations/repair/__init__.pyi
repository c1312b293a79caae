# What was found, and what a repair does or did about it.
from .repair import Repair as Repair

# What was found and what a repair would do; changes nothing.
from .repair import inspect_home as inspect_home

# Do it. Logs that processes hold are saved first; then nothing is changed while anybody has the files open.
from .repair import repair_home as repair_home
