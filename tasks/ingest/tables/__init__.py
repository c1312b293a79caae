"""Sheets, records and tables become questions."""
