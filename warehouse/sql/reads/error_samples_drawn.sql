-- Which failed responses were drawn to be labelled?
-- One row per response; of all samples, or of the one asked for. The sample drawn last is at the end.
-- Parameters: $sample_id (default null)
SELECT * EXCLUDE (landing_unit)
FROM error_samples
WHERE sample_id = coalesce($sample_id::VARCHAR, sample_id)
ORDER BY drawn_at, sample_id, session_id, seq
