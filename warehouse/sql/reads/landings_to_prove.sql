-- What did each landing come to, as the lake says it?
-- One row per landing that kept a hash of its rows, but those of the audit log, which is in the chain itself.
SELECT landing_unit, row_count, rows_hash
FROM landings
WHERE rows_hash IS NOT NULL AND table_name <> 'access_log'
ORDER BY landing_unit
