"""What was published, in the forms of others: logs of Inspect, samples of lm-evaluation-harness, a leaderboard as JSON, a citation."""
