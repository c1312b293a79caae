-- How many refusals lie in quarantine?
-- One row: the number of rows and rules broken.
SELECT count(*) AS quarantined_count
FROM quarantine
