-- What stars did people give the responses of a calibration?
-- One row per response, round and rater.
-- Parameters: $occasion
SELECT h.* EXCLUDE (landing_unit)
FROM human_ratings AS h
SEMI JOIN calibration_samples AS s
    ON s.session_id = h.session_id AND s.seq = h.seq AND s.round = h.round AND s.occasion = $occasion
WHERE h.scale = 'stars_0_3'
ORDER BY h.round, h.session_id, h.seq, h.rater
