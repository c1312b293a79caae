# What the model's help came to.
from .second_reader import AssistanceSummary as AssistanceSummary

# Who may be asked, and with what: the ledger keeps every call.
from .second_reader import Assistant as Assistant

# The registered model that may help, checked before anything is read.
from .second_reader import read_assist_model as read_assist_model

# What having papers read by a model costs at most.
from .second_reader import AssistanceEstimate as AssistanceEstimate

# The registered models that papers may be sent to.
from .second_reader import list_readers as list_readers

# How far a second reading is that somebody asked for, or what came of the last one.
from .requested_reading import SecondReading as SecondReading

# What it would cost at most to have a model read this paper; nothing is asked.
from .requested_reading import estimate_reading as estimate_reading

# Why a paper is not put to a model, whoever asks.
from .requested_reading import find_obstacle as find_obstacle

# The second reading of a paper that is under way, else the last one.
from .requested_reading import find_reading as find_reading

# The second readings that are not done, by document.
from .requested_reading import list_under_way as list_under_way

# What ingests of this month may spend in USD, and what is left of it.
from .requested_reading import read_month_money as read_month_money

# Note that somebody asks for a paper to be read by a model; twice changes nothing.
from .requested_reading import request_reading as request_reading

# What is said of a paper's reading, in Chinese as far as its sentences are known.
from .reasons import say_in_chinese as say_in_chinese

# A paper, the lines of its text, and the questions that were read in it.
from .corrected import PaperAsRead as PaperAsRead

# Land a paper as a person's marks divide it, and keep the marks for later papers of its source.
from .corrected import keep_correction as keep_correction

# The papers that are held, and those in whose text no question was found; oldest first.
from .corrected import list_held as list_held

# A paper as it was read; None where there is no such one, or nothing was read of it.
from .corrected import open_paper as open_paper

# Read the archived original of a paper with a person's marks; nothing is landed.
from .corrected import read_again as read_again

# Return the page as HTML: self-contained, without scripts, nothing loaded from anywhere.
from .check_page import render_check_page as render_check_page

# The notes by code, in the order of the file.
from .content.notes import read_notes as read_notes

# The page docs/problem-codes.md: what every status of a document and every note of a question means.
from .content.notes import render_problem_codes as render_problem_codes

# What became of one document: its row, its raw text (None when unreadable), its questions.
from .documents import ParsedDocument as ParsedDocument

# How documents are read. Limits hold for each document.
from .documents import IngestOptions as IngestOptions

# Return the files named and those below the folders named, each once, with the paths they are known by.
from .documents import list_sources as list_sources

# Read one source after the other, several at once, in their order.
from .documents import parse_sources as parse_sources

# Read and check what a person may set, so that a mistake is reported before anything is read.
from .documents import make_options as make_options

# Read one document in a child process; a bad document gives a result with its status and error, never a raise.
from .documents import parse_document as parse_document

# Let a held paper go on as it was read: its questions wait for review from then on. Doing it twice changes nothing.
from .removal import release_document as release_document

# Types that a person may give a heading.
from .layout.corrections import HEADING_TYPES as HEADING_TYPES

# What a person may say of a line: heading, number, option, nothing, key.
from .layout.corrections import ROLES as ROLES

# Fit the confidence on review's decisions and on papers read by eye; report what changes, and with `apply` take it into use.
from .learning import learn_confidence as learn_confidence

# What an ingest of `paths` would say where every document is landed already; None where one is to be read, or no lake is there.
from .landing import find_nothing_new as find_nothing_new

# Open `data` as a zip package after checking what it claims to unpack to.
from .readers.archives import open_package as open_package

# Return the path of the `soffice` program, or None. `PROCTOR_SOFFICE` overrides the search.
from .readers.office import find_libreoffice as find_libreoffice

# The document of that name, or whose id begins so; raises UsageError when none or several do.
from .removal import find_document as find_document

# Empty the document's unit and record why; with `purge` its files in `folders` are deleted too: the archive's, and the
from .removal import remove_document as remove_document

# Land what is new under `paths`: documents, their text, their questions; the originals are archived.
from .task import ingest_documents as ingest_documents

# Have the paper read that somebody at the desk asked for, or all such papers.
from .task import read_requested_paper as read_requested_paper
