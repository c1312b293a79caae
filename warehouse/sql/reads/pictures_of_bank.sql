-- How do the pictures look that the bank ever held, and these?
-- One row per picture, formulas left out: one letter tells two of them apart, and their hashes do not. First those of the bank, in the order of the versions that brought them.
-- Parameters: $sha256s
WITH held AS (
    SELECT one.sha256, min(from_version) AS from_version
    FROM bank_contents
    CROSS JOIN unnest(pictures) AS named (one)
    GROUP BY one.sha256
)

SELECT
    p.sha256,
    any_value(p.perceptual_hash) AS perceptual_hash,
    bool_or(held.sha256 IS NOT NULL) AS is_held
FROM pictures AS p
LEFT JOIN held ON held.sha256 = p.sha256
WHERE p.picture_kind <> 'formula' AND (held.sha256 IS NOT NULL OR p.sha256 IN (SELECT unnest($sha256s::VARCHAR[])))
GROUP BY p.sha256
ORDER BY min(held.from_version) NULLS LAST, p.sha256
