# A reply without the thinking that it begins with, where a model marks it by tags and says something after it.
from .found_objects import drop_thinking as drop_thinking

# The outermost JSON objects of a text in order; null where their braces are too tangled to be read in due time.
from .found_objects import find_objects as find_objects

# A JSON object in a text.
from .found_objects import FoundObject as FoundObject

# The one JSON object of a reply that has the key, whatever stands around it; null for none, and where several differ.
from .found_objects import parse_json_object as parse_json_object

# What ends a clause, in Chinese and English.
from .voices import CLAUSE_END as CLAUSE_END

# Whether a passage stands in quotation marks, in a block quotation, in a string of broken JSON, or after `the candidate wrote`.
from .voices import is_shown as is_shown
