# The text as HTML inside of a line: an option, a cell; tables are not looked for.
from .text import render_line as render_line

# At most so many characters of the text, inside of a line; a formula is shown whole or not at all.
from .text import render_start as render_start

# The text as blocks of HTML; empty for nothing. `language` is of what is said by itself, never of the text.
from .text import render_text as render_text
