-- What did every candidate of an edition get for every question under a prompt style?
-- One row per candidate and question: stars averaged over its repeats, as S counts them (what nobody could judge earns
-- nothing), and whether nobody could judge any repeat.
-- Parameters: $edition_id, $month, $prompt_style
SELECT
    set_id,
    model,
    question_uuid,
    discipline,
    (stars_1_count + 2 * stars_2_count + 3 * stars_3_count)
        / (stars_0_count + stars_1_count + stars_2_count + stars_3_count + unparsed_count) AS stars,
    stars_0_count + stars_1_count + stars_2_count + stars_3_count = 0 AS is_unparsed
FROM edition_stars
WHERE month = $month
    AND edition_id = $edition_id
    AND prompt_style = $prompt_style
ORDER BY model, question_uuid
