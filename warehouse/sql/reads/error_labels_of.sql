-- Which labels did the failed responses of a sample get?
-- One row per response and labeller.
-- Parameters: $sample_id
SELECT l.* EXCLUDE (landing_unit)
FROM error_labels AS l
SEMI JOIN error_samples AS s ON s.session_id = l.session_id AND s.seq = l.seq AND s.sample_id = $sample_id
ORDER BY l.session_id, l.seq, l.labeller
