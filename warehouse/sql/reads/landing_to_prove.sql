-- What does the lake say that a landing came to?
-- One row per landing: one, or none.
-- Parameters: $name
SELECT row_count, rows_hash
FROM landings
WHERE landing_unit = $name
