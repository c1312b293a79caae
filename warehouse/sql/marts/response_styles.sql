-- What does each response look like, whatever it says?
-- One row per response with a text: its length and its markup. Empty, erased and failed ones have no row.
SELECT
    run_id,
    month,
    session_id,
    seq,
    model,
    prompt_style,
    length(trim(response)) AS response_length,
    len(regexp_extract_all(response, '(?m)^[ \t]*(?:[-*+•][ \t]+|\d{1,3}(?:[.)][ \t]+|[、．]))\S')) AS list_count,
    len(regexp_extract_all(response, '(?m)^ {0,3}#{1,6}[ \t]+\S')) AS heading_count,
    len(regexp_extract_all(response, '\*\*[^*\s][^*\n]*\*\*|__[^_\s][^_\n]*__')) AS bold_count,
    -- A Chinese character stands for some three letters.
    3 * len(regexp_extract_all(response, '\p{Han}')) >= len(regexp_extract_all(response, '[A-Za-z]')) + 1 AS is_chinese,
    is_simulated
FROM responses
WHERE length(trim(response)) > 0
