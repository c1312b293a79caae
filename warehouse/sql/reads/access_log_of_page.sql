-- What landed of a page of the audit log?
-- One row per entry, in order.
-- Parameters: $unit
SELECT access_id, user_id, session_id, action, http_status, code, entry_hash, accessed_at
FROM access_log
WHERE landing_unit = $unit
ORDER BY access_id
