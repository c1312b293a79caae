-- How often was the bank published, whether anything changed or not?
-- One row per lake.
SELECT coalesce(max(publication), 0) AS publication_count
FROM bank_sources
