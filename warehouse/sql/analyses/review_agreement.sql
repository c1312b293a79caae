-- How far do annotators agree?
-- One row per scope (batch, discipline, pair) and name, over closed batches. percent_agreement, Cohen's kappa (unweighted, linear,
-- quadratic, over accept, edit, reject in that order; of more than two annotators the mean over their pairs, weighted by the
-- questions they share) and Krippendorff's alpha (nominal, ordinal). Null where undefined: everybody gave one and the same decision.
-- Parameters: $batch_id (default null)
-- A null batch gives all batches.
-- No rows: no two annotators have decided on the same question of a closed batch: `proctor review assign`, and decisions of two.
WITH scoped AS (
    SELECT s.scope, s.name, p.*
    FROM review_pairs AS p
    CROSS JOIN LATERAL (
        VALUES
            ('batch', p.batch_id),
            ('discipline', coalesce(p.discipline, '(none)')),
            ('pair', p.annotator_a || ' / ' || p.annotator_b)
    ) AS s (scope, name)
    WHERE p.batch_id = coalesce($batch_id::VARCHAR, p.batch_id)
),

costs AS (
    SELECT
        weighting,
        x.place AS place_a,
        y.place AS place_b,
        CASE
            WHEN weighting = 'none' THEN (x.place <> y.place)::INTEGER
            WHEN weighting = 'linear' THEN abs(x.place - y.place)
            ELSE (x.place - y.place) ** 2
        END AS cost
    FROM (VALUES ('none'), ('linear'), ('quadratic')) AS w (weighting)
    CROSS JOIN (VALUES (1), (2), (3)) AS x (place)
    CROSS JOIN (VALUES (1), (2), (3)) AS y (place)
),

couples AS (
    SELECT
        scope,
        name,
        annotator_a,
        annotator_b,
        count(*) AS shared_count,
        count(*) FILTER (place_a = 1) AS a1,
        count(*) FILTER (place_a = 2) AS a2,
        count(*) FILTER (place_a = 3) AS a3,
        count(*) FILTER (place_b = 1) AS b1,
        count(*) FILTER (place_b = 2) AS b2,
        count(*) FILTER (place_b = 3) AS b3
    FROM scoped
    GROUP BY scope, name, annotator_a, annotator_b
),

observed AS (
    SELECT s.scope, s.name, s.annotator_a, s.annotator_b, c.weighting, sum(c.cost ORDER BY c.cost) / count(*) AS disagreement
    FROM scoped AS s
    JOIN costs AS c ON c.place_a = s.place_a AND c.place_b = s.place_b
    GROUP BY s.scope, s.name, s.annotator_a, s.annotator_b, c.weighting
),

by_chance AS (
    SELECT
        k.scope,
        k.name,
        k.annotator_a,
        k.annotator_b,
        k.shared_count,
        c.weighting,
        sum([k.a1, k.a2, k.a3][c.place_a] * [k.b1, k.b2, k.b3][c.place_b] * c.cost ORDER BY c.place_a, c.place_b)
        / (k.shared_count * k.shared_count) AS disagreement
    FROM couples AS k
    CROSS JOIN costs AS c
    GROUP BY k.scope, k.name, k.annotator_a, k.annotator_b, k.shared_count, c.weighting
),

kappas AS (
    SELECT
        e.scope,
        e.name,
        e.weighting,
        sum((1 - o.disagreement / e.disagreement) * e.shared_count ORDER BY e.shared_count, o.disagreement, e.disagreement)
            / sum(e.shared_count) AS kappa
    FROM by_chance AS e
    JOIN observed AS o
        ON o.scope = e.scope
        AND o.name = e.name
        AND o.annotator_a = e.annotator_a
        AND o.annotator_b = e.annotator_b
        AND o.weighting = e.weighting
    WHERE e.disagreement > 0
    GROUP BY e.scope, e.name, e.weighting
),

-- Krippendorff 2011: each pair of ratings of a unit counts once in each order, divided by the unit's ratings less one. The unit
-- of a pair of annotators has their two ratings.
ratings AS (
    SELECT *, CASE WHEN scope = 'pair' THEN 1 ELSE rating_count - 1 END AS divisor
    FROM scoped
),

coincidences AS (
    SELECT scope, name, place_a, place_b, 1 / divisor AS weight
    FROM ratings
    UNION ALL
    SELECT scope, name, place_b, place_a, 1 / divisor
    FROM ratings
),

totals AS (
    SELECT
        scope,
        name,
        coalesce(sum(weight ORDER BY weight) FILTER (place_a = 1), 0) AS n1,
        coalesce(sum(weight ORDER BY weight) FILTER (place_a = 2), 0) AS n2,
        coalesce(sum(weight ORDER BY weight) FILTER (place_a = 3), 0) AS n3,
        sum(weight ORDER BY weight) AS n
    FROM coincidences
    GROUP BY scope, name
),

distances AS (
    SELECT
        t.scope,
        t.name,
        t.n,
        c.place_a,
        c.place_b,
        [t.n1, t.n2, t.n3][c.place_a] * [t.n1, t.n2, t.n3][c.place_b] AS expected,
        (c.place_a <> c.place_b)::DOUBLE AS nominal,
        CASE
            WHEN c.place_a = c.place_b THEN 0
            ELSE (
                list_sum([t.n1, t.n2, t.n3][least(c.place_a, c.place_b):greatest(c.place_a, c.place_b)])
                - ([t.n1, t.n2, t.n3][c.place_a] + [t.n1, t.n2, t.n3][c.place_b]) / 2
            ) ** 2
        END AS ordinal
    FROM totals AS t
    CROSS JOIN costs AS c
    WHERE c.weighting = 'none'
),

expected AS (
    SELECT
        scope,
        name,
        n,
        nullif(sum(expected * nominal ORDER BY place_a, place_b), 0) AS nominal,
        nullif(sum(expected * ordinal ORDER BY place_a, place_b), 0) AS ordinal
    FROM distances
    GROUP BY scope, name, n
),

found AS (
    SELECT
        c.scope,
        c.name,
        sum(c.weight * d.nominal ORDER BY c.weight, d.nominal) AS nominal,
        sum(c.weight * d.ordinal ORDER BY c.weight, d.ordinal) AS ordinal
    FROM coincidences AS c
    JOIN distances AS d
        ON d.scope = c.scope AND d.name = c.name AND d.place_a = c.place_a AND d.place_b = c.place_b
    GROUP BY c.scope, c.name
),

counts AS (
    SELECT
        scope,
        name,
        count(DISTINCT (batch_id, question_uuid)) AS question_count,
        count(*) AS pair_count,
        avg((decision_a = decision_b)::INTEGER) AS percent_agreement
    FROM scoped
    GROUP BY scope, name
)

SELECT
    c.scope,
    c.name,
    c.question_count,
    c.pair_count,
    c.percent_agreement,
    max(k.kappa) FILTER (k.weighting = 'none') AS cohen_kappa,
    max(k.kappa) FILTER (k.weighting = 'linear') AS kappa_linear,
    max(k.kappa) FILTER (k.weighting = 'quadratic') AS kappa_quadratic,
    any_value(1 - (e.n - 1) * f.nominal / e.nominal) AS krippendorff_alpha,
    any_value(1 - (e.n - 1) * f.ordinal / e.ordinal) AS alpha_ordinal
FROM counts AS c
JOIN expected AS e ON e.scope = c.scope AND e.name = c.name
JOIN found AS f ON f.scope = c.scope AND f.name = c.name
LEFT JOIN kappas AS k ON k.scope = c.scope AND k.name = c.name
GROUP BY c.scope, c.name, c.question_count, c.pair_count, c.percent_agreement
ORDER BY c.scope, c.name
