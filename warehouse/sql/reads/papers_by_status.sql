-- Which papers wait for a program that is not here, and how many?
-- One row per status that documents have.
SELECT
    status,
    count(*) AS paper_count
FROM documents
GROUP BY status
