-- Which rows of closed runs have left the ledger with these units?
-- One row per row of the ledger, by table and key.
-- Parameters: $units, $months, $table_names
SELECT table_name, row_key, session_id, number, column_names, row_json
FROM archived_rows
WHERE list_contains($months, month) AND list_contains($table_names, table_name) AND list_contains($units, landing_unit)
ORDER BY table_name, row_key
