-- How often does a judge say something else than the key, in these sessions of one month?
-- One row per lineage with answers that a key decides: how many the judge gave stars, and on how many it differs: 2 or 3 stars for one that is
-- wrong by the key, 0 or 1 for one that is right. What got its 0 stars by rule is left out.
-- $judge is `judge/version of its prompt`.
-- Parameters: $session_ids, $month, $judge
SELECT
    a.lineage_uuid,
    count(*) AS answer_count,
    count(*) FILTER ((j.stars >= 2) <> (j.key_verdict = 'right')) AS disagreement_count
FROM judgements AS j
JOIN allocations AS a ON a.month = j.month AND a.session_id = j.session_id AND a.seq = j.seq
WHERE j.month = $month
    AND list_contains($session_ids::VARCHAR[], j.session_id)
    AND j.judge || '/' || split_part(j.prompt_version, '/', 1) = $judge
    AND j.occasion = 'first'
    AND j.attempt > 0
    AND j.stars IS NOT NULL
    AND j.key_verdict IS NOT NULL
GROUP BY a.lineage_uuid
ORDER BY a.lineage_uuid
