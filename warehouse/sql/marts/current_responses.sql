-- What did each candidate answer, and where did the question stand?
-- One row per response of the lake, with the set, the discipline and the state of its session.
-- An allocation without a response has no row here; see scored_responses for every allocation.
-- erased_at says when response, reasoning and answer were erased; null where they were not.
SELECT
    r.run_id,
    r.month,
    r.session_id,
    r.seq,
    s.set_id,
    r.question_uuid,
    r.lineage_uuid,
    a.discipline,
    r.model,
    r.organisation,
    r.prompt_style,
    r.repeat,
    s.is_reference,
    s.status AS session_status,
    r.bank_version,
    r.prompt_version,
    r.response,
    r.reasoning,
    r.answer,
    r.answer_status,
    r.finish_reason,
    r.input_tokens,
    r.output_tokens,
    r.cost_usd,
    r.latency_ms,
    r.attempts,
    r.error,
    erasures.erased_at,
    r.is_simulated
FROM responses AS r
LEFT JOIN sessions AS s ON s.session_id = r.session_id
LEFT JOIN allocations AS a ON a.session_id = r.session_id AND a.seq = r.seq
LEFT JOIN erasures ON erasures.session_id = r.session_id
