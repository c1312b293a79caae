# Whether a paper may print answers, though no question of it has one.
from .answer_signs import shows_answers as shows_answers

# What the reading of each question shows, its paper's evidence with it.
from .evidence import gather_questions as gather_questions

# The fitted numbers of the confidence, and what they make of evidence.
from .judging import Fit as Fit

# The fit in a text, or the one that comes with the program.
from .judging import read_fit as read_fit

# When a question needs special care, and when a paper is held.
from .judging import Terms as Terms

# Give a paper and its questions their confidence, and hold the paper where its reading is not good enough.
from .judging import judge_reading as judge_reading

# Hold or pass a paper of which so large a share is expected to be right, and name its questions' status.
from .judging import settle as settle

# Whether a question needs special care in review.
from .judging import name_status as name_status

# The evidence of a landed paper, and what its contracts said.
from .judging import parse_reading as parse_reading

# Set the confidence of a paper's questions, and return the share of it that is expected to be right.
from .judging import compute_confidences as compute_confidences

# A question of which it is known whether it was read right.
from .learning import Known as Known

# A paper of which some questions are known.
from .learning import KnownPaper as KnownPaper

# The weights by all papers, and the steps by each source's papers under a fit of the others.
from .learning import fit_confidence as fit_confidence

# Every known question and paper under a fit of all other sources.
from .learning import try_left_out as try_left_out

# The type of a question whose paper names none.
from .truth import FREE as FREE

# The types that are right where a paper names none: all that are answered in words.
from .truth import FREE_TYPES as FREE_TYPES

# A listed question beside what it was read as: stem, options, answer and type.
from .truth import compare_question as compare_question

# A text for comparison: no white space, no punctuation, no width.
from .truth import fold as fold

# A paper as it was read, with what its truth file says of it.
from .truth import know_paper as know_paper

# The listed questions of a truth file.
from .truth import list_truths as list_truths

# What a person read in the papers of a folder, by the name of the paper.
from .truth import read_truths as read_truths
