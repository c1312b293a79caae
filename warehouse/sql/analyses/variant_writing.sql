-- What did models write for the bank, what of it passed, and what did it cost?
-- One row per batch of variants, newest first. passed_share is the share of options, materials or questions of which something
-- passed the rules; failed_share is that of the sample which people rejected. status is held, released or refused.
-- Shown: method, generator, status, variant_count, passed_share, sample_count, failed_count, cost_usd
-- No rows: no model has written variants: `proctor augment --with MODEL`.
SELECT
    variant_batch_id,
    batch_id,
    method,
    generator,
    is_simulated,
    status,
    parent_count,
    variant_count,
    refused_count,
    1 - fallback_count / nullif(parent_count, 0) AS passed_share,
    sample_count,
    failed_count,
    failed_count / nullif(sample_count, 0) AS failed_share,
    call_count,
    cost_usd,
    drafted_at,
    settled_at
FROM variant_batches
ORDER BY drafted_at DESC, variant_batch_id
