# Format rules of a question: one function per rule, named for what must hold (LLMEval-Fair, A.2.2).
from . import rules as rules

# Bare questions by UUID: type, language, stem, material and the offered options.
from .bare import strip_questions as strip_questions

# How many blanks a text has.
from .blanks import count_blanks as count_blanks

# The text with `filling` in its blanks: in the first `most` of them, or in all (0).
from .blanks import fill_blanks as fill_blanks

# Whether there is anything to fill in.
from .blanks import has_blank as has_blank

# Whether the empty bracket `()` at `start` belongs to a name before it, as in `main()`.
from .blanks import is_call as is_call

# The text as HTML inside of a line: an option, a cell; tables are not looked for.
from .display.text import render_line as render_line

# The text as blocks of HTML; empty for nothing. `language` is of what is said by itself, never of the text.
from .display.text import render_text as render_text

# Names of all doubts about `content`, in the order of `DOUBTS`; empty where there is none.
from .doubts import find_doubts as find_doubts

# The place of something among others, random but always the same: SHA-256 of its parts.
from .draws import compute_rank as compute_rank

# A rank of eight bytes, for draws by the thousand: BLAKE2b of the parts. It orders differently from compute_rank.
from .draws import compute_short_rank as compute_short_rank

# The items in an order that the salt fixes; those of one name keep the order in which they come.
from .draws import draw_order as draw_order

# That share of the items, rounded, in the drawn order: at least one where there is any, none for a share of 0.
from .draws import draw_share as draw_share

# The names in an order that the salt fixes, by short ranks: for names by the hundred thousand.
from .draws import draw_short_order as draw_short_order

# The normal form of a text whose pieces are joined.
from .identity import close_pieces as close_pieces

# Return the UUIDv5 of a document from the SHA-256 of its bytes (hex).
from .identity import compute_document_id as compute_document_id

# Return the UUIDv5 of texts that are in normal form already; `options` are pairs of label and text.
from .identity import compute_normal_uuid as compute_normal_uuid

# Return the UUIDv5 of a question's normalised content; language, answers and metadata play no part.
from .identity import compute_question_uuid as compute_question_uuid

# The normal form of a text that will stand inside a longer one, between other texts: closing stops stay.
from .identity import fold_piece as fold_piece

# The normal form of two pieces with white space between them; the last piece still has its closing stops.
from .identity import join_pieces as join_pieces

# Fold a text for identity: NFKC, case, white space and punctuation variants. Never shown to anyone.
from .identity import normalise_for_key as normalise_for_key

# The normal form of each text; `fold_further` is a fold of single code points that comes after it.
from .normal_texts import normalise_column as normalise_column

# Four examples of our own, in no bank: two statements with reasons, a term, a short answer.
from .prompt_styles import EXAMPLES as EXAMPLES

# The instruction of each prompt style, by language.
from .prompt_styles import INSTRUCTIONS as INSTRUCTIONS

# The messages of one call, in the form of a chat.
from .prompt_styles import Messages as Messages

# Part of every call key and of every response: a changed word below needs a new version (a test compares).
from .prompt_styles import VERSION as VERSION

# The question inside a rendered prompt: what render_question gave; null when there is none.
from .prompt_styles import extract_question as extract_question

# The style in which a rendered prompt puts its question.
from .prompt_styles import read_style as read_style

# The messages that put a question, and the version of their wording.
from .prompt_styles import render_prompt as render_prompt

# The question itself: material, stem and options, one option per line.
from .prompt_styles import render_question as render_question

# What a candidate may see of a question, and nothing else.
from .question import BareQuestion as BareQuestion

# The kind of a question that comes from a paper.
from .question import ORIGINAL as ORIGINAL

# One offered answer: its letter and its text.
from .question import Option as Option

# One item of the bank, or on its way there.
from .question import Question as Question

# Everything that is asked and known of a question, without who it is: the columns `schemas.questions.CONTENT`.
from .question import QuestionContent as QuestionContent

# Offered answers from their stored form, a list of label and text; a null text is an empty one.
from .question import read_options as read_options

# Offered answers in their stored form.
from .question import write_options as write_options

# One record per response and judge; a question without a response has one, and so has a response without a judge.
from .record import build_records as build_records

# Write records as JSON lines in UTF-8; the file is there whole or not at all. Returns how many.
from .record import export_records as export_records

# Read a file of records: all of them, or none.
from .record import import_records as import_records

# One line of a file of records, without its end.
from .record import render_record as render_record

# A row of `review_decisions`, as far as later stages need it.
from .reviewed import ReviewedQuestion as ReviewedQuestion

# Every rule by name, in the order of the file.
from .rule_notes import read_rule_notes as read_rule_notes

# The generator of variants that no model wrote.
from .variant import TEMPLATE as TEMPLATE

# A row of `variants`.
from .variant import Variant as Variant

# A variant of `parent` that asks `content`, with the UUID of that content.
from .variant import make_variant as make_variant

# How a variant came to be.
from .variant import VariantOrigin as VariantOrigin

__all__ = [
    "EXAMPLES",
    "INSTRUCTIONS",
    "ORIGINAL",
    "TEMPLATE",
    "VERSION",
    "BareQuestion",
    "Messages",
    "Option",
    "Question",
    "QuestionContent",
    "ReviewedQuestion",
    "Variant",
    "VariantOrigin",
    "build_records",
    "close_pieces",
    "compute_document_id",
    "compute_normal_uuid",
    "compute_question_uuid",
    "compute_rank",
    "compute_short_rank",
    "count_blanks",
    "draw_order",
    "draw_share",
    "draw_short_order",
    "export_records",
    "extract_question",
    "fill_blanks",
    "find_doubts",
    "fold_piece",
    "has_blank",
    "import_records",
    "is_call",
    "join_pieces",
    "make_variant",
    "normalise_column",
    "normalise_for_key",
    "read_options",
    "read_rule_notes",
    "read_style",
    "render_line",
    "render_prompt",
    "render_question",
    "render_record",
    "render_text",
    "rules",
    "strip_questions",
    "write_options",
]
