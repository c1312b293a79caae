-- Which sets of anchor responses hold responses of these sessions?
-- One row per set, by its name.
-- Parameters: $session_ids
SELECT DISTINCT anchor_responses.anchor_set
FROM anchor_responses
SEMI JOIN (SELECT unnest($session_ids::VARCHAR[]) AS session_id) AS asked
    ON anchor_responses.session_id = asked.session_id
ORDER BY anchor_set
