# Format rules of a question: one function per rule, named for what must hold (LLMEval-Fair, A.2.2).
from . import rules as rules

# How many blanks a text has.
from .blanks import count_blanks as count_blanks

# The text with `filling` in its blanks: in the first `most` of them, or in all (0).
from .blanks import fill_blanks as fill_blanks

# Whether there is anything to fill in.
from .blanks import has_blank as has_blank

# Whether the empty bracket `()` at `start` belongs to a name before it, as in `main()`.
from .blanks import is_call as is_call

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

# Which answers that are always the same are right.
from .guessing import BlindKey as BlindKey

# Which rules answer this question right.
from .guessing import find_blind_key as find_blind_key

# What a candidate may see of a question, and nothing else.
from .question import BareQuestion as BareQuestion

# One offered answer: its letter and its text.
from .question import Option as Option

# A picture that a text of a question names: number, SHA-256, place.
from .question import QuestionPicture as QuestionPicture

# The kind of a question that comes from a paper.
from .question import ORIGINAL as ORIGINAL

# The places where a candidate sees a picture.
from .question import SHOWN_PLACES as SHOWN_PLACES

# One item of the bank, or on its way there.
from .question import Question as Question

# Everything that is asked and known of a question, without who it is: the columns `schemas.questions.CONTENT`.
from .question import QuestionContent as QuestionContent

# Offered answers from their stored form, a list of label and text; a null text is an empty one.
from .question import read_options as read_options

# Offered answers in their stored form.
from .question import write_options as write_options
