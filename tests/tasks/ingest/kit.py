"""Of ingest, what tests of other rooms need beside its face.

It is one place, so that a room can move what is its own.
"""

from __future__ import annotations

from tasks.ingest.landing import land_documents
from tasks.ingest.readers.picture_form import normalise_picture
from tasks.ingest.removal import remove_document
from tasks.ingest.requested_reading import _hash_terms as hash_terms

__all__ = ["hash_terms", "land_documents", "normalise_picture", "remove_document"]
