-- How many entries of the bank are there, and how many of them are in the index?
-- One row per lake.
-- Parameters: $algorithm
SELECT
    (SELECT count(*) FROM bank_contents) AS entry_count,
    (SELECT count(*) FROM question_signatures WHERE algorithm = $algorithm) AS indexed_count
