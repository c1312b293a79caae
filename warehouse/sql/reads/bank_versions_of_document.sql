-- Which versions of the bank hold a question of a document?
-- One row per version, lowest first.
-- Parameters: $document_id
SELECT DISTINCT bank_version
FROM bank
WHERE document_id = $document_id
ORDER BY bank_version
