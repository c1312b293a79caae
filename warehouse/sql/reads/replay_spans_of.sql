-- Which spans were chosen for a replay, a source and an organisation?
-- One row per question.
-- Parameters: $replay_id, $source, $organisation
SELECT * EXCLUDE (landing_unit)
FROM replay_spans
WHERE replay_id = $replay_id AND source = $source AND organisation = $organisation
ORDER BY item_id
