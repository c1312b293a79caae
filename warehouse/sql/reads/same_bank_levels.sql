-- Which edition of a scale was the first to draw from a bank version, and what was new in it like?
-- One row per discipline of that edition: means of difficulty and log discrimination as published, their spreads, and how many
-- passages (or lineages of none) were drawn. No row where no edition drew from that version, or it is one from before spreads were published.
-- Parameters: $edition_ids, $bank_version
WITH first_drawn AS (
    SELECT
        edition_id,
        month
    FROM editions
    WHERE edition_id IN (SELECT unnest($edition_ids)) AND bank_version = $bank_version
    ORDER BY month, planned_at, revision
    LIMIT 1
)

SELECT
    i.edition_id,
    i.discipline,
    avg(i.difficulty ORDER BY i.difficulty) AS difficulty_mean,
    any_value(f.difficulty_sd) AS difficulty_sd,
    avg(ln(i.discrimination) ORDER BY i.discrimination) AS discrimination_mean,
    any_value(f.discrimination_sd) AS discrimination_sd,
    count(DISTINCT coalesce(i.passage, i.lineage_uuid)) AS drawn_count
FROM edition_items AS i
JOIN first_drawn AS d ON d.edition_id = i.edition_id AND d.month = i.first_month
JOIN edition_fits AS f ON f.edition_id = i.edition_id AND f.discipline = i.discipline
WHERE i.is_moved IS DISTINCT FROM true AND f.difficulty_sd > 0 AND f.discrimination_sd > 0
GROUP BY i.edition_id, i.discipline
ORDER BY i.discipline
