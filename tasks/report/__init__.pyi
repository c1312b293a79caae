# What a figure is asked for.
from .figures import Asked as Asked

# The figure of that name: `leaderboard`, `pair` or `history`.
from .figures import draw_figure as draw_figure

# The folder of the site of a team, apart from the site of every model.
from .site import name_team_folder as name_team_folder

# The models that a team's site shows.
from .site import read_models as read_models

# The folder of the site, under PROCTOR_HOME.
from .site import REPORTS as REPORTS

# Write `league-NAME.html` and `league-NAME.csv` into `out_dir`, and return the path of the page.
from .league_page import render_league as render_league

# Render the site over the whole lake; an empty folder means `reports` under PROCTOR_HOME.
from .task import render_reports as render_reports

# The languages that the report speaks.
from .labels import Language as Language

# Where the template, styles and script lie that every page shares.
from .look import SHARED_FOLDER as SHARED_FOLDER

# How an edition is attested, in words.
from .words import describe_grade as describe_grade

# What the column `marks` of an analysis says: for each mark its kind, its name and a sentence.
from .words import describe_marks as describe_marks

# What a call to a model was for, in words.
from .words import name_purpose as name_purpose

# All that is said of two candidates: the row, its months, its disciplines, and the sentences.
from .verdict import compare_pair as compare_pair

# All that is said of one candidate over its own months.
from .verdict import follow_candidate as follow_candidate

# All that is said of the members of a family, each beside the one before it.
from .verdict import follow_family as follow_family

# What is said, and what it rests on.
from .verdict import SpokenVerdict as SpokenVerdict
