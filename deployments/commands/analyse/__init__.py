"""For whoever asks: queries, agreement, contamination, results of others, exports."""
