-- Which papers wait for a program that is not here, or for a person, and how many?
-- One row per status that documents have.
SELECT
    status,
    count(*) AS paper_count
FROM document_states
GROUP BY status
ORDER BY status
