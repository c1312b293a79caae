-- On which scale is an edition, and how was each edition of that scale fitted?
-- One row per edition and discipline, earliest first: of the scale of the latest edition before it that has one. Revisions that were
-- replaced are among them: later editions may rest on what they published.
-- Parameters: $month, $planned_at, $is_simulated
WITH before AS (
    SELECT
        f.* EXCLUDE (landing_unit, month),
        e.month,
        e.planned_at,
        e.revision
    FROM edition_fits AS f
    JOIN editions AS e ON e.edition_id = f.edition_id
    WHERE (e.month, e.planned_at) < ($month, $planned_at::TIMESTAMPTZ)
        AND f.is_simulated = $is_simulated
        AND f.scale_edition_id IS NOT NULL
        AND f.withheld IS NULL
)

SELECT *
FROM before
WHERE scale_edition_id = (
    SELECT max_by(scale_edition_id, (month, planned_at, revision)) FROM before
)
ORDER BY month, planned_at, revision, edition_id, discipline
