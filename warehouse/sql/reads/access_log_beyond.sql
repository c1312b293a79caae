-- Which entries of the audit log came after one that the ledger has as its last?
-- One row per entry with a higher id than $last_id.
-- Parameters: $last_id
SELECT
    access_id,
    session_id,
    action
FROM access_log
WHERE access_id > $last_id
ORDER BY access_id
