-- How many refusals lie in quarantine?
-- One row per lake: every row is counted once for each rule that it broke.
SELECT count(*) AS quarantined_count
FROM quarantine
