// One candidate: where it stands, its disciplines beside its family and the best, its months, why its score changed, styles, cost, thinking.
(function () {
  "use strict";
  if (!window.proctorData) { return; }
  var b = window.board, data = b.data, more = window.proctorData.candidates, make = b.make;
  var chooser = document.getElementById("model"), place = -1;

  function column(name) { return name.toLowerCase().replace(" ", "_"); }
  function mean(values) {
    var known = values.filter(function (v) { return v !== null && v !== undefined; });
    return known.length ? known.reduce(function (sum, v) { return sum + v; }, 0) / known.length : null;
  }
  function section(id, children) {
    var body = b.empty(document.getElementById(id));
    children.forEach(function (child) { if (child) { body.appendChild(child); } });
    return body;
  }
  function finding(text) { return make("p", { "class": "finding" }, text); }
  function hint(key) { return make("p", { "class": "hint" }, b.spoken(key)); }
  function figure() { return make("div", { "class": "fig", role: "img" }); }
  function scroll(inner, key) { return make("div", { "class": "scroll", tabindex: "0", role: "group", "aria-label": b.say(key) }, inner); }
  function beside(drawing, table) { return make("div", { "class": "beside" }, [drawing, table]); }
  function empty(key) { return make("p", { "class": "empty" }, b.spoken(key)); }
  function rowsOf(set) {
    return set.model.map(function (name, at) { return at; })
      .filter(function (at) { return set.model[at] === data.models[place].model && Boolean(set.is_simulated[at]) === Boolean(data.models[place].is_simulated); });
  }
  function inOrder(names) { return data.disciplines.filter(function (name) { return names.indexOf(name) >= 0; }).concat(names.filter(function (name) { return data.disciplines.indexOf(name) < 0; })); }

  function showStanding(sat) {
    var e = sat.edition, row = sat.row, model = data.models[place];
    var facts = [["organisation", model.organisation], ["family", model.family], ["mode", model.mode], ["base", model.base_model], ["release_date", model.release_date]]
      .filter(function (fact) { return fact[1]; });
    section("standing", [
      finding(b.spoken("standing_sentence", {
        month: e.month, score: b.number(e.score[row]), interval: b.interval(e.score_low[row], e.score_high[row]), asked: e.question_count[row], rank: e.rank[row] === null ? b.MISSING : e.rank[row],
        range: b.range(e.rank_low[row], e.rank_high[row]), group: e.group[row] || b.MISSING, count: e.model.length
      })),
      make("p", { "class": "edition" }, [
        model.is_simulated ? make("span", { "class": "tag warn" }, b.spoken("simulated")) : null,
        make("span", { "class": "tag" }, b.spoken(model.is_open ? "open" : "closed")), " "
      ].concat(facts.reduce(function (parts, fact) { return parts.concat([b.spoken(fact[0]), " ", make("b", {}, fact[1]), " · "]); }, []), [
        b.spoken("grade"), " ", make("b", {}, b.both(e.grade)), " · ",
        make("a", { href: site.link("compare.html", "models", neighbours(sat).join(",")) }, b.spoken("compare_with_next"))
      ]))
    ]);
  }
  // The candidate and the next better one, or the next worse one of the first.
  function neighbours(sat) {
    var e = sat.edition, order = e.model.map(function (m, at) { return at; }).filter(function (at) { return e.rank[at] !== null; })
      .sort(function (x, y) { return e.rank[x] - e.rank[y]; });
    var at = order.indexOf(sat.row), other = order[at > 0 ? at - 1 : 1];
    return [place].concat(other === undefined ? [] : [e.model[other]]).map(function (p) { return encodeURIComponent(b.nameOf(p)); });
  }

  function showProfile(sat) {
    var e = sat.edition, row = sat.row, rows = [], model = data.models[place];
    var family = e.model.map(function (p, at) { return at; }).filter(function (at) {
      return at !== row && model.family && data.models[e.model[at]].family === model.family;
    });
    var intervals = {};
    rowsOf(more.changes).forEach(function (at) {
      if (more.changes.month[at] === e.month) { intervals[more.changes.discipline[at]] = [more.changes.score_low[at] / 10, more.changes.score_high[at] / 10]; }
    });
    data.disciplines.forEach(function (name) {
      var values = e[column(name)], own = values[row];
      if (own === null) { return; }
      var known = values.filter(function (v) { return v !== null; }), best = Math.max.apply(null, known);
      rows.push({
        name: name, own: own, low: intervals[name] ? intervals[name][0] : null, high: intervals[name] ? intervals[name][1] : null,
        family: mean(family.map(function (at) { return values[at]; })), best: best, holder: b.nameOf(e.model[values.indexOf(best)]), gap: own - mean(values)
      });
    });
    if (!rows.length) { section("profile-body", [empty("without_score")]); return; }
    var ranked = rows.slice().sort(function (x, y) { return y.gap - x.gap; });
    function spell(list, at) { return list.map(function (r) { return b.wordsOf(r.name)[at]; }).join(at ? " and " : "、"); }
    // Of one discipline nothing is strongest or weakest.
    var most = Math.min(2, Math.floor(ranked.length / 2)), strong = ranked.slice(0, most), weak = ranked.slice(ranked.length - most).reverse(), texts = [0, 1].map(function (at) {
      return b.wordsOf("strengths_sentence")[at].replace("{strong}", spell(strong, at)).replace("{weak}", spell(weak, at));
    });
    var drawing = figure(), kinds = ["own", "of_family", "of_best"];
    section("profile-body", [most ? finding(b.both(texts)) : null, hint("profile_about"), beside(drawing, scroll(b.table(
      [{ words: b.wordsOf("discipline") }, { words: b.wordsOf("own"), isNumber: true }, { words: b.wordsOf("interval"), isNumber: true }, { words: b.wordsOf("gap_to_mean"), isNumber: true },
        { words: b.wordsOf("of_family"), isNumber: true }, { words: b.wordsOf("of_best"), isNumber: true }, { words: b.wordsOf("model") }],
      rows.map(function (r) {
        return [b.both(b.wordsOf(r.name)), { shown: b.answers(e, row, b.number(r.own), r.name), value: r.own }, b.interval(r.low, r.high, 1),
          // Of what is rounded to hundredths a mean and a gap to it have one place less.
          b.change(r.gap, 1), b.value(r.family, 1), b.value(r.best), r.holder];
      })
    ), "profile"))]);
    var drawn = [];
    rows.forEach(function (r) {
      [["own", r.own], ["of_family", r.family], ["of_best", r.best]].forEach(function (one) {
        if (one[1] !== null) { drawn.push({ name: b.say(r.name), kind: b.say(one[0]), value: Math.round(one[1]) / 100, low: r.low === null ? null : r.low / 100, high: r.high === null ? null : r.high / 100 }); }
      });
    });
    var y = { field: "name", type: "nominal", sort: rows.map(function (r) { return b.say(r.name); }), title: null };
    b.plot(drawing, {
      data: { values: drawn }, height: 26 * rows.length,
      layer: [
        { transform: [{ filter: { field: "kind", equal: b.say("own") } }], mark: { type: "rule", strokeWidth: 2, opacity: 0.5, color: b.PALETTE[0] },
          encoding: { y: y, x: { field: "low", type: "quantitative", title: b.say("discipline_score"), scale: { domain: [0, 10] } }, x2: { field: "high" } } },
        { mark: { type: "point", filled: true, size: 80, opacity: 1 }, encoding: {
          y: y, x: { field: "value", type: "quantitative", title: b.say("discipline_score"), scale: { domain: [0, 10] } },
          color: { field: "kind", type: "nominal", title: null, legend: { orient: "top" }, scale: { domain: kinds.map(function (k) { return b.say(k); }), range: [b.PALETTE[0], b.PALETTE[4], b.PALETTE[2]] } },
          shape: { field: "kind", type: "nominal", title: null, scale: { domain: kinds.map(function (k) { return b.say(k); }), range: ["circle", "diamond", "triangle-up"] } },
          tooltip: [{ field: "name", title: " " }, { field: "kind", title: " " }, { field: "value", type: "quantitative", title: " " }]
        } }
      ]
    }, most ? texts[site.language === "zh" ? 0 : 1] : b.say("profile"));
  }

  function showTrend(sat) {
    var scored = sat.filter(function (s) { return s.edition.score[s.row] !== null; });
    if (!scored.length) { section("trend-body", [empty("without_score")]); return; }
    var first = scored[0], last = scored[scored.length - 1], drawing = figure(), values = {
      first: first.edition.month, last: last.edition.month, count: scored.length, from: b.number(first.edition.score[first.row]), to: b.number(last.edition.score[last.row])
    };
    section("trend-body", [finding(b.spoken("trend_sentence", values)), hint("trend_of_one_about"), drawing, make("details", {}, [
      make("summary", {}, b.spoken("table_view")),
      scroll(b.table([{ words: b.wordsOf("month") }, { words: b.wordsOf("score"), isNumber: true }, { words: b.wordsOf("interval"), isNumber: true }, { words: b.wordsOf("equated_score"), isNumber: true },
        { words: b.wordsOf("relative_score"), isNumber: true }, { words: b.wordsOf("rank"), isNumber: true }],
        sat.slice().reverse().map(function (s) {
          var e = s.edition, row = s.row;
          return [e.month, b.opened(e, row, "score"), b.interval(e.score_low[row], e.score_high[row]), b.opened(e, row, "equated_score"), b.opened(e, row, "relative_score"),
            { shown: e.rank[row] === null ? b.MISSING : e.rank[row], value: e.rank[row] }];
        })), "trend_of_one")
    ])]);
    var drawn = [];
    b.fillMonths(values.first, values.last).forEach(function (month) {
      var found = scored.filter(function (s) { return s.edition.month === month; })[0];
      [["score", "score_low", "score_high"], ["equated_score", "equated_low", "equated_high"]].forEach(function (names) {
        function read(name) { return found && found.edition[name][found.row] !== null ? found.edition[name][found.row] / 100 : null; }
        drawn.push({ month: month + "-01T00:00", kind: b.say(names[0]), value: read(names[0]), low: names[0] === "score" ? read(names[1]) : null, high: names[0] === "score" ? read(names[2]) : null });
      });
    });
    var x = { field: "month", type: "temporal", title: null, axis: b.timeAxis(drawn.length), scale: { padding: 20 } };
    var y = { field: "value", type: "quantitative", title: b.say("score"), scale: { zero: false } };
    var colour = { field: "kind", type: "nominal", title: null, legend: { orient: "top", symbolOpacity: 1 }, scale: { domain: [b.say("score"), b.say("equated_score")], range: [b.PALETTE[0], b.PALETTE[1]] } };
    b.plot(drawing, {
      data: { values: drawn }, height: 260,
      layer: [
        { transform: [{ filter: "datum.low !== null" }], mark: { type: "rule", opacity: 0.45, strokeWidth: 2 }, encoding: { x: x, y: { field: "low", type: "quantitative", title: b.say("score"), scale: { zero: false } }, y2: { field: "high" }, color: colour } },
        { mark: { type: "line", strokeWidth: 2, invalid: "break-paths-show-path-domains" }, encoding: { x: x, y: y, color: colour } },
        { mark: { type: "point", filled: true, size: 50, opacity: 1, invalid: "filter" }, encoding: { x: x, y: y, color: colour, tooltip: [{ field: "month", type: "temporal", format: "%Y-%m", title: " " }, { field: "kind", title: " " }, { field: "value", type: "quantitative", title: " " }] } }
      ]
    }, b.say("trend_sentence", values));
  }

  function showChange(sat) {
    var set = more.changes, rows = rowsOf(set).filter(function (at) { return set.previous_month[at] && set.points[at] !== null; });
    if (!rows.length) { section("why-body", [empty("change_none")]); return; }
    rows.sort(function (x, y) { return Math.abs(set.points[y]) - Math.abs(set.points[x]); });
    var first = rows[0], sum = rows.reduce(function (total, at) { return total + set.points[at]; }, 0);
    var same = rows.filter(function (at) { return (set.points[at] < 0) === (sum < 0); })[0], told = same === undefined ? first : same;
    var texts = [0, 1].map(function (at) {
      return b.wordsOf("change_sentence")[at].replace("{month}", set.month[told]).replace("{previous}", set.previous_month[told]).replace("{change}", b.signed(sum, 1))
        .replace("{discipline}", b.wordsOf(set.discipline[told])[at]).replace("{points}", b.signed(set.points[told], 1));
    });
    var drawing = figure();
    section("why-body", [finding(b.both(texts)), hint("why_changed_about"), beside(drawing, scroll(b.table(
      [{ words: b.wordsOf("discipline") }, { words: b.wordsOf("points_of_s"), isNumber: true }, { words: b.wordsOf("previous"), isNumber: true }, { words: b.wordsOf("now"), isNumber: true },
        { words: b.wordsOf("score_change"), isNumber: true }].concat(["on_new", "on_anchors"].reduce(function (heads, key) {
        var named = b.wordsOf(key), others = b.wordsOf("others_there");
        return heads.concat([{ words: named, isNumber: true }, { words: [named[0] + "：" + others[0], named[1] + ": " + others[1].toLowerCase()], isNumber: true }]);
      }, [])),
      rows.map(function (at) {
        return [b.both(b.wordsOf(set.discipline[at])), b.change(set.points[at]), b.value(set.previous_score[at], 1), b.value(set.score[at], 1),
          { shown: b.signed(set.score_change[at], 1) + " (" + b.interval(set.score_change_low[at], set.score_change_high[at], 0) + ")", value: set.score_change[at] },
          counted(set.new_score[at], set.new_count[at]), b.value(set.new_others_score[at], 1), counted(set.anchor_score[at], set.anchor_count[at]), b.value(set.anchor_others_score[at], 1)];
      })
    ), "why_changed"))]);
    b.plot(drawing, {
      data: { values: rows.map(function (at) { return { name: b.say(set.discipline[at]), points: set.points[at] / 100 }; }) }, height: 22 * rows.length,
      mark: "bar", encoding: {
        y: { field: "name", type: "nominal", sort: null, title: null }, x: { field: "points", type: "quantitative", title: b.say("points_of_s") },
        color: { condition: { test: "datum.points < 0", value: b.PALETTE[1] }, value: b.PALETTE[0] },
        tooltip: [{ field: "name", title: " " }, { field: "points", type: "quantitative", title: " " }]
      }
    }, texts[site.language === "zh" ? 0 : 1]);
    function counted(score, count) { return { shown: b.number(score, 1) + (count ? " (n=" + count + ")" : ""), value: score }; }
  }

  function isOwn(row) { return row.model === data.models[place].model && Boolean(row.is_simulated) === Boolean(data.models[place].is_simulated); }
  function list(said) { return make("ul", { "class": "verdict" }, said.map(function (one) { return make("li", {}, b.both(one)); })); }
  function showChanged() {
    var found = more.changed.filter(isOwn)[0];
    if (!found) { section("changed-body", [empty("changed_unknown")]); return; }
    section("changed-body", [finding(b.both(found.said[0])), list(found.said.slice(1)),
      make("p", { "class": "hint" }, [b.spoken("command_for_it"), ": ", make("code", {}, "proctor verdict " + data.models[place].model)])]);
  }
  // Every step of the family, each with a link to the whole verdict.
  function showFamily() {
    var model = data.models[place], steps = more.families.filter(function (one) {
      return model.family && one.family === model.family && Boolean(one.is_simulated) === Boolean(model.is_simulated);
    });
    if (!steps.length) { section("family-body", [empty("family_none")]); return; }
    section("family-body", steps.map(function (one) {
      var names = [one.model, one.previous_model].map(encodeURIComponent).join(",");
      var link = make("a", { href: site.link("compare.html", "models", names) }, one.model + " – " + one.previous_model);
      return make("div", {}, [make("h3", {}, isOwn(one) || one.previous_model === model.model ? make("b", {}, link) : link)]
        .concat(one.said.length ? [list(one.said)] : [empty("family_apart")]));
    }).concat([make("p", { "class": "hint" }, [b.spoken("command_for_it"), ": ", make("code", {}, "proctor verdict --family " + model.family)])]));
  }

  function showStyles(sat) {
    var month = sat.edition.month, rows = [];
    ["zero_shot", "few_shot", "chain_of_thought"].forEach(function (style) {
      b.editionsOf(month, style).forEach(function (e) {
        var row = e.model.indexOf(place);
        if (row >= 0 && !e.isRepetition) { rows.push([b.spoken(style), b.opened(e, row, "score"), b.interval(e.score_low[row], e.score_high[row]), { shown: e.rank[row] === null ? b.MISSING : e.rank[row], value: e.rank[row] }, b.opened(e, row, "relative_score")]); }
      });
    });
    section("styles-body", [hint("styles_of_one_about"), scroll(b.table(
      [{ words: b.wordsOf("style") }, { words: b.wordsOf("score"), isNumber: true }, { words: b.wordsOf("interval"), isNumber: true }, { words: b.wordsOf("rank"), isNumber: true }, { words: b.wordsOf("relative_score"), isNumber: true }], rows
    ), "styles_of_one")]);
  }
  function showCost() {
    var set = more.costs, at = rowsOf(set)[0];
    if (at === undefined || set.cost_per_1000_usd[at] === null) { section("cost-body", [empty("cost_unknown")]); return; }
    section("cost-body", [hint("cost_of_one_about"), scroll(b.table(
      [{ words: b.wordsOf("month") }, { words: b.wordsOf("cost_per_1000"), isNumber: true }, { words: b.wordsOf("cost_per_point"), isNumber: true }, { words: b.wordsOf("state") }],
      [[set.month[at], { shown: set.cost_per_1000_usd[at].toFixed(3), value: set.cost_per_1000_usd[at] },
        { shown: set.cost_per_point_usd[at] === null ? b.MISSING : set.cost_per_point_usd[at].toFixed(5), value: set.cost_per_point_usd[at] }, set.is_efficient[at] ? b.spoken("efficient") : ""]]
    ), "cost_of_one")]);
  }
  function showThinking() {
    var set = more.gains, name = data.models[place].model, simulated = Boolean(data.models[place].is_simulated);
    var rows = set.model.map(function (m, at) { return at; }).filter(function (at) {
      return (set.model[at] === name || set.base_model[at] === name) && Boolean(set.is_simulated[at]) === simulated;
    });
    if (!rows.length) { section("thinking-body", [empty("thinking_none")]); return; }
    section("thinking-body", [hint("thinking_about"), scroll(b.table(
      [{ words: b.wordsOf("discipline") }, { words: b.wordsOf("model") }, { words: b.wordsOf("base") }, { words: b.wordsOf("gain"), isNumber: true }, { words: b.wordsOf("interval"), isNumber: true }, { words: b.wordsOf("question_count"), isNumber: true }],
      rows.map(function (at) {
        return [set.discipline[at] === null ? make("b", {}, b.spoken("overall")) : b.both(b.wordsOf(set.discipline[at])), set.model[at], set.base_model[at], b.change(set.gain[at]),
          b.interval(set.gain_low[at], set.gain_high[at]), { shown: set.pair_count[at], value: set.pair_count[at] }];
      })
    ), "thinking")]);
  }

  function show() {
    var asked = b.findModel(site.read("model"));
    place = asked >= 0 ? asked : data.editions[0].model[0];
    chooser.value = String(place);
    var sat = b.sittings(place, "zero_shot"), last = sat[sat.length - 1];
    document.getElementById("who").textContent = b.nameOf(place);
    document.title = b.nameOf(place);
    if (!last) { ["standing", "profile-body", "trend-body", "why-body", "styles-body"].forEach(function (id) { section(id, [empty("without_score")]); }); } else {
      showStanding(last); showProfile(last); showTrend(sat); showChange(last); showStyles(last);
    }
    showChanged();
    showFamily();
    showCost();
    showThinking();
  }
  data.models.map(function (model, at) { return at; }).sort(function (x, y) { return b.nameOf(x).localeCompare(b.nameOf(y)); }).forEach(function (at) {
    chooser.appendChild(make("option", { value: at }, b.nameOf(at)));
  });
  chooser.addEventListener("change", function () { site.keep("model", b.nameOf(Number(chooser.value))); show(); });
  site.whenChanged(show);
  show();
})();
