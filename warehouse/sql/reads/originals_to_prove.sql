-- Which originals must the archive have, and what was read of each?
-- One row per document that was not removed, with the hash of its text (null for none).
SELECT d.sha256, d.document_name, sha256(t.text) AS text_sha256
FROM documents AS d
LEFT JOIN document_texts AS t ON t.document_id = d.document_id
WHERE d.status <> 'removed' AND d.sha256 <> ''
ORDER BY d.document_id
