# Every file as submissions of its good annotations, one per person, and a refusal that names the bad ones.
from .label_studio.reading import read_label_studio as read_label_studio

# Write the tasks of a batch, or of every open one, and the configuration of each language; returns the paths.
from .label_studio.writing import export_label_studio as export_label_studio

# All pictures of a question by number, those of its answer included.
from .pictures import list_pictures as list_pictures

# The decision, or the faults that keep it from being one.
from .web.parsing import parse_decision as parse_decision

# How a section begins.
from .workbook.card import name_heading as name_heading

# What a card shows where a question has no answer.
from .workbook.card import NO_ANSWER as NO_ANSWER

# What the cells to fill in hold when a decision has been given already, by column name.
from .workbook.cells import render_input_cells as render_input_cells

# The first row of a workbook's sheet with a question.
from .workbook.layout import FIRST_ROW as FIRST_ROW

# The hidden sheet of a workbook, which says what it is.
from .workbook.layout import HIDDEN_SHEET as HIDDEN_SHEET

# The columns of a workbook in that language, in order.
from .workbook.layout import list_columns as list_columns

# The sheet of a workbook that annotators fill in.
from .workbook.layout import SHEET as SHEET

# The text with its simple formulas in Unicode; what cannot be is as it was, delimiters included.
from .workbook.mathematics import render_mathematics as render_mathematics

# The sentence in that language; one that the table lacks stays as it is.
from .workbook.rows import translate as translate

# Every file as a submission of its good rows, and a refusal that names its bad ones.
from .workbook.reading import read_workbooks as read_workbooks

# Write one workbook per annotator and role of the batch into `folder`; returns their paths.
from .workbook.writing import export_batch as export_batch

# Write the workbooks of every batch that still takes decisions into `folder`; returns their paths.
from .workbook.writing import export_open_batches as export_open_batches
