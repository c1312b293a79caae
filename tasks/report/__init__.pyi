# Write `league-NAME.html` and `league-NAME.csv` into `out_dir`, and return the path of the page.
from .league_page import render_league as render_league

# Render the site over the whole lake; an empty folder means `reports` under PROCTOR_HOME.
from .task import render_reports as render_reports

# The rows of the `leaderboard` query as a table of `width` characters.
from .terminal import render_leaderboard_text as render_leaderboard_text

__all__ = [
    "render_leaderboard_text",
    "render_league",
    "render_reports",
]
