-- In which parts have rows of a run left the ledger, now or before?
-- One row per part.
-- Parameters: $run_id
SELECT unit
FROM landings
WHERE table_name = 'archived_rows' AND starts_with(unit, $run_id || '/part-')
ORDER BY unit
