-- Which entries of the audit log with these numbers have left the ledger?
-- One row per entry, by number.
-- Parameters: $numbers
SELECT table_name, row_key, session_id, number, column_names, row_json
FROM archived_rows
WHERE table_name = 'access_log' AND list_contains($numbers, number)
ORDER BY number
