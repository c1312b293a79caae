-- Which entries of the bank have one of these keys?
-- One row per entry.
-- Parameters: $algorithm, $content_keys
SELECT question_uuid, lineage_uuid, from_version, content_key, normal_answers
FROM question_signatures
WHERE algorithm = $algorithm AND content_key IN (SELECT unnest($content_keys::VARCHAR[]))
ORDER BY ALL
