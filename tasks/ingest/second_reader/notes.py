"""What is noted of a question that a second reader has read."""

from __future__ import annotations

# Both readers read it alike; the second reader points at it; it tells what the printed answer means; its text may hold the answer.
CONFIRMED = "confirmed"
POINTED = "assisted"
KEY_BY_READER = "key_by_reader"
HOLDS_ANSWER = "text_holds_answer"
