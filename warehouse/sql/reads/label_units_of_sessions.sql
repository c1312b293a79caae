-- In which batches were failures of these sessions labelled?
-- One row per unit of error_labels, by its name.
-- Parameters: $session_ids
SELECT DISTINCT error_labels.landing_unit AS unit
FROM error_labels
SEMI JOIN (SELECT unnest($session_ids::VARCHAR[]) AS session_id) AS asked
    ON error_labels.session_id = asked.session_id
ORDER BY unit
