# Open a workbook that came from outside.
from .opening import open_workbook as open_workbook

# A sheet of rows with one column of marks to fill in.
from .sheets import MarkSheet as MarkSheet

# The key of a row: it does not tell whose it is.
from .sheets import compute_key as compute_key

# Whether a spreadsheet program makes a formula of the text where somebody edits its cell.
from .sheets import begins_formula as begins_formula

# The text without characters that a workbook cannot hold.
from .sheets import clean_text as clean_text

# The clean text, cut with a mark where it is longer than a cell can be.
from .sheets import fit_cell as fit_cell

# The rows of a sheet that are not empty; raises WorkbookError for a foreign file.
from .sheets import read_sheet as read_sheet

# Write a page that explains and sheets with their rows, whole or not at all.
from .sheets import write_sheets as write_sheets
