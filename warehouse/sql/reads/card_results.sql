-- What did answers to a question earn, edition by edition?
-- One row per edition that stands and prompt style, oldest first. mean_stars is over answers whose judgement could be read.
-- Parameters: $question_uuid
SELECT
    edition_stars.edition_id,
    edition_stars.month,
    edition_stars.prompt_style,
    count(DISTINCT edition_stars.model) AS candidate_count,
    sum(stars_0_count + stars_1_count + stars_2_count + stars_3_count)::BIGINT AS answer_count,
    sum(stars_1_count + 2 * stars_2_count + 3 * stars_3_count)
    / nullif(sum(stars_0_count + stars_1_count + stars_2_count + stars_3_count), 0) AS mean_stars,
    sum(edition_stars.unparsed_count)::BIGINT AS unparsed_count
FROM edition_stars
INNER JOIN current_editions USING (edition_id, month)
WHERE edition_stars.question_uuid = $question_uuid
GROUP BY edition_stars.edition_id, edition_stars.month, edition_stars.prompt_style
ORDER BY edition_stars.month, edition_stars.edition_id, edition_stars.prompt_style
