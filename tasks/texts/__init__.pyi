# The same in Chinese and in English.
from .bilingual import Words as Words

# The content of a YAML file of a package, every `{zh: …, en: …}` in it as a pair of texts, Chinese first.
from .bilingual import read_bilingual as read_bilingual

# The content of a YAML file of a package; raises ValueError for a key that is given twice.
from .bilingual import read_texts as read_texts

# The frame as CSV, texts and names of columns that a spreadsheet would run with an apostrophe in front.
from .table_files import write_safe_csv as write_safe_csv

# A text as it was before `write_safe_csv` kept it from being run.
from .table_files import restore_text as restore_text

# Those of these sessions whose texts were erased.
from .erased import list_erased as list_erased

# Raise UsageError where texts of one of these sessions, or of this run, were erased.
from .erased import refuse_erased as refuse_erased

# At most so many characters of a text, its mark included; null, or `bytes` and `sha256` of the whole where it was cut.
from .long_text import cut_text as cut_text

# The text as every store and every signature takes it: no NUL, no half of a surrogate pair.
from .long_text import make_storable as make_storable

# The texts and numbers of a CSV, TSV, JSONL or Parquet file as they stand; UsageError where unreadable or empty.
from .table_files import read_table as read_table
