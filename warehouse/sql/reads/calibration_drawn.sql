-- What was drawn for people to rate?
-- One row per response, occasion and round, in order; of all occasions and rounds, or of those asked for.
-- Parameters: $occasion (default null), $round (default null)
SELECT * EXCLUDE (landing_unit)
FROM calibration_samples
WHERE occasion = coalesce($occasion::VARCHAR, occasion) AND round = coalesce($round::BIGINT, round)
ORDER BY drawn_at, occasion, round, session_id, seq
