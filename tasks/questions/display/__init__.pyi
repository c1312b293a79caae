# The text as HTML inside of a line: an option, a cell; tables are not looked for.
from .text import render_line as render_line

# The first characters of the text as HTML inside of a line; no formula is cut.
from .text import render_start as render_start

# The text as blocks of HTML; empty for nothing. `language` is of what is said by itself, never of the text.
from .text import render_text as render_text
