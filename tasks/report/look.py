"""Where the frame of every page of Proctor lies: its template, its styles and its script."""

from pathlib import Path
from typing import Final

# What pages of other rooms extend and link, too.
SHARED_FOLDER: Final = Path(__file__).parent / "shared"
