-- Which paid calls did the lake take last?
-- One row per call, the newest 10,000.
SELECT call_key
FROM llm_calls
ORDER BY started_at DESC, call_key
LIMIT 10000
