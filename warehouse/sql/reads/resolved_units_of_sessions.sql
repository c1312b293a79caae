-- Under which units do frozen reasons of these sessions' stars lie?
-- One row per unit.
-- Parameters: $session_ids
SELECT DISTINCT landing_unit AS unit
FROM closed_resolved_judgements
WHERE list_contains($session_ids, session_id)
ORDER BY unit
