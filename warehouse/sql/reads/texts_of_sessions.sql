-- How much text does the lake hold of these sessions?
-- One row per table that holds any: how many of its rows do, and how many bytes.
-- Parameters: $session_ids, $months
WITH asked AS (
    SELECT unnest($session_ids::VARCHAR[]) AS session_id
),

held AS (
    SELECT 'responses' AS table_name, coalesce(strlen(response), 0) + coalesce(strlen(reasoning), 0) AS byte_count
    FROM responses
    SEMI JOIN asked ON asked.session_id = responses.session_id
    WHERE list_contains($months::VARCHAR[], month) AND (response IS NOT NULL OR reasoning IS NOT NULL)
    UNION ALL
    SELECT 'judgements' AS table_name, coalesce(strlen(reason), 0) + coalesce(strlen(raw), 0) AS byte_count
    FROM judgements
    SEMI JOIN asked ON asked.session_id = judgements.session_id
    WHERE list_contains($months::VARCHAR[], month) AND (reason IS NOT NULL OR raw IS NOT NULL)
    UNION ALL
    SELECT 'error_labels' AS table_name, strlen(raw) AS byte_count
    FROM error_labels
    SEMI JOIN asked ON asked.session_id = error_labels.session_id
    WHERE raw IS NOT NULL
)

SELECT table_name, count(*) AS row_count, sum(byte_count)::BIGINT AS byte_count
FROM held
GROUP BY table_name
ORDER BY table_name
