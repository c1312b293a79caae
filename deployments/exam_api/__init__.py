"""The exam API for outside candidates and for in-house runs over HTTP."""
