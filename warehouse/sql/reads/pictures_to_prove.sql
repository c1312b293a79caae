-- Which pictures must the archive have?
-- One row per picture, with a paper that it is of.
SELECT p.sha256, min(d.document_name) AS document_name
FROM pictures AS p
JOIN documents AS d ON d.document_id = p.document_id
WHERE d.status <> 'removed'
GROUP BY p.sha256
ORDER BY p.sha256
