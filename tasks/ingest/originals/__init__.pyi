# Cut a box, in thousandths of the page, out of a page of the original; its bytes are kept in the archive.
from .cutting import cut_picture as cut_picture

# The most bytes of a file that somebody gives as a picture.
from .cutting import LARGEST_FILE as LARGEST_FILE

# Let the lake know whose picture it is.
from .cutting import land_picture as land_picture

# Keep a file that somebody gives as a picture, in its normal form.
from .cutting import take_picture as take_picture

# What is shown of an original that has no pages, or whose pages cannot be drawn.
from .excerpt import Excerpt as Excerpt

# The stretch of a question with what stands around it.
from .excerpt import make_excerpt as make_excerpt

# Write a file to its place at once.
from .original import keep_bytes as keep_bytes

# Move a finished file of the same file system to its place.
from .original import keep_file as keep_file

# A paper of which one question is looked at.
from .original import Original as Original

# The archived original of that content; null when it was deleted.
from .original import find_archived as find_archived

# The original of a whole paper, from its row in `documents`.
from .original import open_original as open_original

# The original of a question found in a document; null where the lake has no place of it: a removed document.
from .original import read_original as read_original

# What of an original can be shown as pictures.
from .pages import PageView as PageView

# The picture (PNG) of a page, from 1; drawn once and kept, readable by its owner alone.
from .pages import draw_page as draw_page

# The picture (PNG) of a page of a file that is not archived; null where it cannot be drawn.
from .pages import draw_file_page as draw_file_page

# The pages on which a question stands, and its blocks on them; a Word paper is laid out for it the first time.
from .pages import find_pages as find_pages

# The pages of a whole paper that can be drawn, from 1; none where the format has none, or nothing can be drawn here.
from .pages import list_whole_pages as list_whole_pages

# Width and height of a PNG in pixels.
from .pages import read_picture_size as read_picture_size

# (left, top, right, bottom) in thousandths of the page as shown.
from .original import Box as Box
