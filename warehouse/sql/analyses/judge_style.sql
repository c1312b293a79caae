-- What does each judge give for the length and the markup of a response, where people gave the same stars?
-- One row per judge, version of its prompt, occasion and feature. effect is in stars for one more of the feature: for twice the
-- length, for twice as many list items, headings or bold passages (and one), for a reply in Chinese; among responses of one
-- candidate. effect_of_sd is that of a standard deviation. is_found where it holds among all features of the judge (Holm, 5%).
-- Parameters: $occasion (default null)
-- Shown: judge, occasion, feature, effect, effect_low, effect_high, p_holm, is_found
-- No rows: no judge was compared with people since form is looked at: `proctor calibrate draw RUN --raters …`, stars by people, then `proctor calibrate report`.
SELECT
    judge,
    prompt_version,
    occasion,
    feature,
    pair_count,
    cluster_count,
    feature_mean,
    feature_sd,
    effect,
    effect_se,
    effect_low,
    effect_high,
    effect * feature_sd AS effect_of_sd,
    p_value,
    p_holm,
    coalesce(p_holm <= 0.05, false) AS is_found,
    is_simulated
FROM judge_style_effects
WHERE occasion = coalesce($occasion::VARCHAR, occasion)
ORDER BY occasion, judge, prompt_version, list_position(['length', 'lists', 'headings', 'bold', 'chinese'], feature)
