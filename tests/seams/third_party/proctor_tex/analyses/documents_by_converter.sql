-- How many documents, and questions, did each converter read?
-- One row per converter. Documents that nothing could read are left out.
-- Parameters: $least (default 1)
--   document_count  documents that it read
--   question_count  questions that were found in them
SELECT converter, count(*) AS document_count, sum(question_count) AS question_count
FROM documents
WHERE converter IS NOT NULL
GROUP BY converter
HAVING count(*) >= $least
ORDER BY converter
