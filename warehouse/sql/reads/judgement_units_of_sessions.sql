-- Under which units did judgements of these sessions land, those without a row that was accepted included?
-- One row per unit, by its name; the unit begins with its session.
-- Parameters: $session_ids
SELECT landings.unit
FROM landings
SEMI JOIN (SELECT unnest($session_ids::VARCHAR[]) AS session_id) AS asked
    ON landings.unit = asked.session_id OR starts_with(landings.unit, asked.session_id || '/')
WHERE landings.table_name = 'judgements'
UNION
SELECT judgements.landing_unit
FROM judgements
SEMI JOIN (SELECT unnest($session_ids::VARCHAR[]) AS session_id) AS asked
    ON judgements.session_id = asked.session_id
ORDER BY unit
