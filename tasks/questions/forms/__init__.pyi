# Bare questions by UUID: type, language, stem, material and the offered options.
from .record import strip_questions as strip_questions

# The question with words in the place of its pictures.
from .prompt_styles import describe_pictures as describe_pictures

# Four examples of our own, in no bank: two statements with reasons, a term, a short answer.
from .prompt_styles import EXAMPLES as EXAMPLES

# The question inside a rendered prompt: what render_question gave; null when there is none.
from .prompt_styles import extract_question as extract_question

# The instruction of each prompt style, by language.
from .prompt_styles import INSTRUCTIONS as INSTRUCTIONS

# The messages of one call, in the form of a chat.
from .prompt_styles import Messages as Messages

# The style in which a rendered prompt puts its question.
from .prompt_styles import read_style as read_style

# The messages that put a question, and the version of their wording.
from .prompt_styles import render_prompt as render_prompt

# The question itself: material, stem and options, one option per line.
from .prompt_styles import render_question as render_question

# Part of every call key and of every response: a changed word below needs a new version (a test compares).
from .prompt_styles import VERSION as VERSION

# One record per response and judge; a question without a response has one, and so has a response without a judge.
from .record import build_records as build_records

# Write records as JSON lines in UTF-8; the file is there whole or not at all. Returns how many.
from .record import export_records as export_records

# Read a file of records: all of them, or none.
from .record import import_records as import_records

# One line of a file of records, without its end.
from .record import render_record as render_record
