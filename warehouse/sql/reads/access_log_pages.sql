-- Up to where was the audit log landed?
-- One row per page, the last two pages only, refused entries counted.
SELECT unit, row_count + rejected_count AS entry_count
FROM landings
WHERE table_name = 'access_log'
ORDER BY unit DESC
LIMIT 2
