-- What did every candidate of an edition earn on each question, how hard is the question, and had it been met before?
-- One row per candidate and question, zero-shot, of questions that the edition's model fits. is_met: the candidate's organisation,
-- or the provider of the reference, had been put the lineage in a run that was planned earlier.
-- Parameters: $edition_id (default null), $simulated (default null)
-- A null edition is the last revision of the latest month that was published and whose model was fitted, further runs of a month left out.
-- No rows: nothing was published in the month that is asked for: `proctor monthly` examines, judges and publishes one; of questions that the edition's model does not fit there are none (`proctor sql "select * from edition_fits"` says why).
WITH edition AS (
    SELECT *
    FROM editions
    WHERE edition_id = coalesce($edition_id::VARCHAR, (
        SELECT max_by(edition_id, (month, planned_at))
        FROM current_editions
        WHERE NOT is_repetition
            AND edition_id IN (SELECT edition_id FROM edition_fits WHERE threshold_1 IS NOT NULL)
            AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
    ))
),

owners AS (
    SELECT DISTINCT model, organisation
    FROM edition_sessions
    WHERE edition_id = (SELECT edition_id FROM edition)
),

provider AS (
    SELECT organisation FROM owners SEMI JOIN edition ON edition.reference_model = owners.model
),

-- A question keeps what was published of it: by the edition itself, or by the last one before it. What was corrected since is not what
-- the edition's model rests on.
items AS (
    SELECT i.*
    FROM edition_items AS i
    JOIN editions AS e ON e.edition_id = i.edition_id
    CROSS JOIN edition
    WHERE i.is_simulated = edition.is_simulated
        AND (i.edition_id = edition.edition_id OR (e.month, e.planned_at) < (edition.month, edition.planned_at) AND e.published_at <= edition.published_at)
    QUALIFY row_number() OVER (
        PARTITION BY i.question_uuid ORDER BY e.month DESC, e.planned_at DESC, e.revision DESC
    ) = 1
),

met AS (
    SELECT DISTINCT s.organisation, a.lineage_uuid
    FROM allocations AS a
    JOIN sessions AS s ON s.session_id = a.session_id
    JOIN runs AS r ON r.run_id = s.run_id
    CROSS JOIN edition
    WHERE r.planned_at < edition.planned_at AND s.is_simulated = edition.is_simulated
)

SELECT
    e.edition_id,
    owners.organisation,
    e.model,
    e.question_uuid,
    e.lineage_uuid,
    e.discipline,
    (e.stars_1_count + 2 * e.stars_2_count + 3 * e.stars_3_count)
        / (e.stars_0_count + e.stars_1_count + e.stars_2_count + e.stars_3_count + e.unparsed_count) AS stars,
    i.discrimination,
    i.difficulty,
    f.threshold_1,
    f.threshold_2,
    f.threshold_3,
    coalesce((f.asymptotes::JSON -> i.format ->> 0)::DOUBLE, 0) AS asymptote_1,
    coalesce((f.asymptotes::JSON -> i.format ->> 1)::DOUBLE, 0) AS asymptote_2,
    coalesce((f.asymptotes::JSON -> i.format ->> 2)::DOUBLE, 0) AS asymptote_3,
    own.lineage_uuid IS NOT NULL OR theirs.lineage_uuid IS NOT NULL AS is_met,
    e.is_simulated
FROM edition_stars AS e
JOIN owners ON owners.model = e.model
JOIN items AS i ON i.question_uuid = e.question_uuid
JOIN edition_fits AS f
    ON f.edition_id = e.edition_id AND f.discipline = e.discipline AND f.threshold_1 IS NOT NULL
LEFT JOIN met AS own ON own.organisation = owners.organisation AND own.lineage_uuid = e.lineage_uuid
LEFT JOIN (
    SELECT DISTINCT met.lineage_uuid FROM met SEMI JOIN provider ON provider.organisation = met.organisation
) AS theirs ON theirs.lineage_uuid = e.lineage_uuid
WHERE e.edition_id = (SELECT edition_id FROM edition)
    AND e.month = (SELECT month FROM edition)
    AND e.prompt_style = 'zero_shot'
ORDER BY owners.organisation, e.model, e.question_uuid
