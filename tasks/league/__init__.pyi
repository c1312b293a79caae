# The candidates; raises UsageError for too few, one twice, simulated ones beside real ones, or no domain.
from .claim import check_rules as check_rules

# Claim the id for these rules; the same rules again give the same claim.
from .claim import claim_league as claim_league

# The claim of an id; null when it is free. Raises StoreError when its key is not the one that it was made with.
from .claim import find_league as find_league

# SHA-256 of a file that questions are compared with; raises UsageError when it cannot be read as questions.
from .claim import hash_benchmark as hash_benchmark

# What is chosen when a league is claimed.
from .claim import LeagueRules as LeagueRules

# The shipped domain of that name, or the one in a file (a name that ends with .yaml or .yml).
from .domain import read_domain as read_domain

# Play an entrant's matches in every domain and land them; what was paid for is not paid again.
from .entry import enter_candidate as enter_candidate

# Who enters a league, and by what.
from .entry import EntryRequest as EntryRequest

# The preview of each candidate; nothing is called. Replies that are asked for again are not in it.
from .preview import preview_league as preview_league

# The season's topics in a language; none where the domain has none. Raises UsageError for what is no season.
from .domain import list_topics as list_topics

# The season of a day, `YYYY-Qn`.
from .domain import name_season as name_season

# The id of the present season's league, `season-2026-Q4`; it is claimed with these rules unless it is already.
from .task import claim_season as claim_season

# Play the rounds of a claimed league that are not finished; what was paid for is not paid again.
from .task import play_rounds as play_rounds

# (name, label, text) of each section of a league's prompt, in order; empty when the messages are none.
from .wording import extract_sections as extract_sections
