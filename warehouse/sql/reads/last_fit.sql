-- Where may the fit of an edition start?
-- One row per discipline of the latest edition before it that has a fit.
-- Parameters: $month, $planned_at, $is_simulated
SELECT f.* EXCLUDE (landing_unit)
FROM edition_fits AS f
JOIN current_editions AS e ON e.edition_id = f.edition_id
WHERE (e.month, e.planned_at) < ($month, $planned_at::TIMESTAMPTZ)
    AND f.is_simulated = $is_simulated
    AND f.is_converged
QUALIFY row_number() OVER (PARTITION BY f.discipline ORDER BY e.month DESC, e.planned_at DESC) = 1
ORDER BY f.discipline
