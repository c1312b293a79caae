-- How far does each judge agree with people, candidate by candidate?
-- One row per judge, version of its prompt, candidate, occasion, round and weighting.
SELECT * EXCLUDE (landing_unit)
FROM calibration
ORDER BY ALL
