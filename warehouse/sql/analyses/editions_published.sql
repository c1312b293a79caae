-- What was published, when, by whose stars, and what was corrected?
-- One row per edition, revisions included, latest first. is_current marks what the leaderboard shows.
-- Shown: edition_id, month, published_at, judge, candidate_count, is_current, reason
SELECT
    e.* EXCLUDE (landing_unit),
    c.edition_id IS NOT NULL AS is_current
FROM editions AS e
LEFT JOIN current_editions AS c ON c.edition_id = e.edition_id
ORDER BY e.month DESC, e.run_id, e.revision DESC
