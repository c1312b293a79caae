-- Under which units did responses of these sessions land, those without a row that was accepted included?
-- One row per unit, by its name.
-- Parameters: $session_ids
SELECT landings.unit
FROM landings
SEMI JOIN (SELECT unnest($session_ids::VARCHAR[]) AS session_id) AS asked ON landings.unit = asked.session_id
WHERE landings.table_name = 'responses'
UNION
SELECT responses.landing_unit
FROM responses
SEMI JOIN (SELECT unnest($session_ids::VARCHAR[]) AS session_id) AS asked ON responses.session_id = asked.session_id
ORDER BY unit
