-- Which lineages do these units speak of?
-- One row per lineage. A changed unit of variants concerns every question of its review batch.
-- Parameters: $decision_units, $variant_units, $retirement_units
SELECT lineage_uuid
FROM review_decisions
WHERE
    landing_unit IN (
        SELECT unnest($decision_units::VARCHAR[])
        UNION
        SELECT split_part(units.unit, '/', 1) FROM (SELECT unnest($variant_units::VARCHAR[]) AS unit) AS units
    )
UNION
SELECT lineage_uuid
FROM variants
WHERE landing_unit IN (SELECT unnest($variant_units::VARCHAR[]))
UNION
SELECT lineage_uuid
FROM bank_retirements
WHERE landing_unit IN (SELECT unnest($retirement_units::VARCHAR[]))
ORDER BY lineage_uuid
