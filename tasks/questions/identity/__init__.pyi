# The normal form of a text whose pieces are joined.
from .normal_form import close_pieces as close_pieces

# Return the UUIDv5 of a document from the SHA-256 of its bytes (hex).
from .normal_form import compute_document_id as compute_document_id

# Return the UUIDv5 of texts that are in normal form already; `options` are pairs of label and text.
from .normal_form import compute_normal_uuid as compute_normal_uuid

# Return the UUIDv5 of a question's normalised content; language, answers and metadata play no part.
from .normal_form import compute_question_uuid as compute_question_uuid

# The normal form of a text that will stand inside a longer one, between other texts: closing stops stay.
from .normal_form import fold_piece as fold_piece

# The normal form of two pieces with white space between them; the last piece still has its closing stops.
from .normal_form import join_pieces as join_pieces

# What names a text that several questions ask about; null for none. As in `bank_index.sql`.
from .normal_form import name_passage as name_passage

# Fold a text for identity: NFKC, case, white space and punctuation variants. Never shown to anyone.
from .normal_form import normalise_for_key as normalise_for_key

# The normal form of each text; `fold_further` is a fold of single code points that comes after it.
from .normal_texts import normalise_column as normalise_column
