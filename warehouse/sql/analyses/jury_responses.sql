-- On which responses is the jury least of the opinion of the judge that was published?
-- One row per response of a published run, the furthest first. judged_stars are those of the edition's first judge; jury_stars the mean of
-- those that the jury finds possible. A response that people rated has their stars. The reference's of earlier months are among them.
-- Parameters: $month (default null), $limit (default 100), $simulated (default null)
-- A null month is the latest that has a jury, of real candidates where there are any.
-- Shown: model, session_id, seq, discipline, judged_stars, jury_stars, distance, is_rated
-- No rows: no published run was judged by two judges and then looked at: `proctor calibrate report` does so for runs that several judges of the registry judged (`proctor judge`).
SELECT
    e.month,
    s.session_id,
    s.seq,
    s.model,
    s.prompt_style,
    s.discipline,
    c.stars AS judged_stars,
    s.jury_stars,
    abs(c.stars - s.jury_stars) AS distance,
    s.chance_0,
    s.chance_1,
    s.chance_2,
    s.chance_3,
    s.judge_count,
    s.is_rated,
    s.edition_id,
    s.is_simulated
FROM jury_stars AS s
JOIN current_editions AS e ON e.edition_id = s.edition_id
JOIN counted_judgements AS c
    ON c.month = s.month
    AND c.session_id = s.session_id
    AND c.seq = s.seq
    AND c.judge = e.judge
    AND c.prompt_wording = e.judge_prompt_version
WHERE c.stars IS NOT NULL
    AND coalesce($simulated::BOOLEAN OR NOT s.is_simulated, e.is_shown_by_default)
    AND e.month = coalesce(
        $month::VARCHAR,
        CASE WHEN $simulated::BOOLEAN THEN (SELECT max(month) FROM jury_scores) END,
        (SELECT max(month) FROM jury_scores WHERE NOT is_simulated),
        (SELECT max(month) FROM jury_scores)
    )
ORDER BY distance DESC, s.session_id, s.seq
LIMIT $limit
