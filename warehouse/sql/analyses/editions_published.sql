-- What was published, when, by whose stars, and what was corrected?
-- One row per edition, revisions included, latest month first. is_current marks what the leaderboard shows.
-- Parameters: $simulated (default null)
-- Shown: edition_id, published_at, grade, judge, candidate_count, is_current, reason, overridden_gates
-- No rows: nothing was published: `proctor monthly` examines, judges and publishes a month.
SELECT
    e.* EXCLUDE (landing_unit),
    coalesce(g.grade, 'self-attested') AS grade,
    c.edition_id = e.edition_id AS is_current
FROM editions AS e
LEFT JOIN edition_grades AS g ON g.edition_id = e.edition_id
JOIN current_editions AS c ON c.run_id = e.run_id AND c.month = e.month
WHERE coalesce($simulated::BOOLEAN OR NOT e.is_simulated, c.is_shown_by_default)
ORDER BY e.month DESC, e.is_repetition, e.run_id, e.revision DESC
