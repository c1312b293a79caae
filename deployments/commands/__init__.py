"""The commands, a room for each kind of user; `options.py` and `checks.py` serve all."""
