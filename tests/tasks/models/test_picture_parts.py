"""Pictures of a request: their place in both forms, in a call's key and in its price."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from tasks.models.budget.reservations import compute_worst_cost
from tasks.models.client import CallRequest, build_body, compute_call_key
from tasks.models.picture_parts import SentPicture, attach_pictures
from tasks.models.providers.anthropic_messages import write_request
from tasks.questions import BareQuestion
from tasks.questions.forms import render_prompt
from tests.tasks.models.simulation import make_model

PICTURE = SentPicture("[picture:1]", "ab" * 32, "image/png", b"\x89PNG bytes")


def test_a_picture_goes_after_its_mark_in_both_forms_and_counts_in_key_and_price() -> None:
    bare = BareQuestion.from_row(
        {
            "question_type": "short_answer",
            "language": "en",
            "stem": "Read [picture:1] aloud.",
            "pictures": [{"number": 1, "sha256": "ab" * 32, "place": "stem", "alt_text": "a code"}],
        }
    )
    messages, _ = render_prompt(bare, "zero_shot", sees_pictures=True)
    (message,) = attach_pictures(messages, [PICTURE])
    first, image, last = message["content"]
    assert first["text"].endswith("Read [picture:1]") and last["text"].startswith(" aloud.")
    url = image["image_url"]["url"]
    assert url == f"data:image/png;base64,{base64.b64encode(PICTURE.data).decode()}"
    named, _ = write_request({"model": "m", "max_tokens": 9, "messages": [message]})
    assert named["messages"][0]["content"][1] == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": url.partition(",")[2]},
    }
    told, version = render_prompt(bare, "zero_shot")
    assert "Read [Picture 1: a code] aloud." in told[0]["content"] and version.endswith("/alt_text")
    model = make_model(parameters={"max_tokens": 10})
    with_picture = CallRequest("exam", messages, pictures=(PICTURE,))
    other = CallRequest("exam", messages, pictures=(replace(PICTURE, sha256="cd" * 32),))
    plain = CallRequest("exam", messages)
    keys = {compute_call_key(model, request, {}) for request in (with_picture, other, plain)}
    assert len(keys) == 3
    body = build_body(model, with_picture, {"max_tokens": 10})
    grown = compute_worst_cost(model, body["messages"], body) - compute_worst_cost(model, messages, body)
    assert grown == pytest.approx(6_000 / 1e6)
