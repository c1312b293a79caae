-- Where does every candidate stand that was ever examined?
-- One row per candidate (and is_simulated), as of the last month that was published: its latest edition with its month, S and
-- R of then, and standing_score, by which it is ranked: the equated score by the last edition's fit, S where there is none.
-- comparability says how that compares with the candidates of the last month: same_edition, same_reference (it sat the same
-- reference's questions in an earlier month), anchors (linked by questions that were asked again), or none.
SELECT s.* EXCLUDE (landing_unit), e.published_at, e.is_provisional, e.is_shown_by_default
FROM edition_standings AS s
JOIN current_editions AS e ON e.edition_id = s.edition_id
WHERE NOT e.is_repetition
QUALIFY dense_rank() OVER (PARTITION BY s.is_simulated ORDER BY s.month DESC, e.planned_at DESC, e.run_id DESC) = 1
