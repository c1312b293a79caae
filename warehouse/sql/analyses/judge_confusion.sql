-- Which stars does a judge give where people gave others?
-- One row per judge, version of its prompt, occasion, the people's consensus and the judge's stars; combinations that did not
-- occur have no row. share is that of the responses with this consensus.
-- Parameters: $occasion (default null)
-- No rows: no judge was compared with people: `proctor calibrate draw RUN --raters …`, stars by people, then `proctor calibrate report`.
SELECT
    judge,
    prompt_version,
    occasion,
    agreed_stars,
    judged_stars,
    count(*) AS response_count,
    count(*) / sum(count(*)) OVER (PARTITION BY judge, prompt_version, occasion, agreed_stars) AS share,
    bool_and(is_simulated) AS is_simulated
FROM calibration_pairs
WHERE occasion = coalesce($occasion::VARCHAR, occasion)
GROUP BY judge, prompt_version, occasion, agreed_stars, judged_stars
ORDER BY judge, prompt_version, occasion, agreed_stars, judged_stars
