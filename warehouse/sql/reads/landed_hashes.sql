-- What do these landings hash to?
-- One row per landing among $units (`table/unit`) that kept a hash of its rows and refused none.
-- Parameters: $units
SELECT landing_unit, rows_hash
FROM landings
WHERE list_contains($units, landing_unit) AND rows_hash IS NOT NULL AND rejected_count = 0
ORDER BY landing_unit
