// Two candidates or more: the differences of the first from each other one, by discipline, and their profiles side by side.
(function () {
  "use strict";
  if (!window.proctorData) { return; }
  var b = window.board, data = b.data, set = window.proctorData.differences, make = b.make;
  var adder = document.getElementById("add"), MOST = 6, edition, known;

  // Pairs stand once: the other way round every sign changes.
  function find(first, second) {
    var name = data.models[first].model, other = data.models[second].model, simulated = Boolean(data.models[first].is_simulated);
    var none = { isTurned: false, all: null, disciplines: [] };
    if (Boolean(data.models[second].is_simulated) !== simulated) { return none; }
    if (!known) {
      known = { true: {}, false: {} };
      set.pairs.model_a.forEach(function (a, at) {
        known[Boolean(set.pairs.is_simulated[at])][JSON.stringify([set.models[a], set.models[set.pairs.model_b[at]]])] = at;
      });
    }
    var straight = known[simulated][JSON.stringify([name, other])], turned = known[simulated][JSON.stringify([other, name])];
    var isTurned = straight === undefined, at = isTurned ? turned : straight;
    if (at === undefined) { return none; }
    var from = at * set.disciplines.length;
    return { isTurned: isTurned, all: at, disciplines: set.disciplines.map(function (name, step) { return from + step; }) };
  }
  function turn(columns, at, isTurned) {
    var value = columns.difference[at], low = columns.together_low[at], high = columns.together_high[at];
    if (!isTurned || value === null) { return { value: value, low: low, high: high }; }
    return { value: -value, low: high === null ? null : -high, high: low === null ? null : -low };
  }

  function readChosen() {
    var asked = site.read("models").split(",").filter(Boolean).map(function (name) {
      try { return b.findModel(decodeURIComponent(name)); } catch (error) { return -1; }
    });
    var found = b.unique(asked.filter(function (place) { return place >= 0; })).slice(0, MOST);
    if (found.length || site.read("models")) { return found; }
    return edition.model.slice(0, 2);
  }
  function choose(places) { site.keep("models", places.map(function (p) { return encodeURIComponent(b.nameOf(p)); }).join(",")); show(); }

  function showChips(chosen) {
    var list = b.empty(document.getElementById("chosen"));
    chosen.forEach(function (place) {
      var remove = make("button", { type: "button", "aria-label": b.say("remove_candidate") + " " + b.nameOf(place) }, "×");
      remove.addEventListener("click", function () { choose(chosen.filter(function (p) { return p !== place; })); adder.focus(); });
      list.appendChild(make("li", {}, [make("a", { href: site.link("candidate.html", "model", b.nameOf(place)) }, b.nameOf(place)), " ", remove]));
    });
    adder.disabled = chosen.length >= MOST;
    document.getElementById("limit").hidden = chosen.length < MOST;
    b.empty(adder);
    adder.appendChild(b.option("", b.wordsOf("choose_candidate"), ""));
    data.models.map(function (m, at) { return at; }).filter(function (at) { return chosen.indexOf(at) < 0; })
      .sort(function (x, y) { return b.nameOf(x).localeCompare(b.nameOf(y)); })
      .forEach(function (at) { adder.appendChild(make("option", { value: at }, b.nameOf(at))); });
  }

  function sayAll(at) {
    return set.said[at].map(function (one) {
      var texts = set.sentences[one[0]], values = {};
      var names = (texts[1].match(/\{\w+\}/g) || []).map(function (name) { return name.slice(1, -1); });
      b.unique(names).sort().forEach(function (name, place) { values[name] = one[place + 1]; });
      return b.spokenText(texts, values);
    });
  }
  function plotMonths(caption, drawing, found, sentence) {
    var names = set.months.names, axis = b.say("difference_short"), known = {};
    names.forEach(function (month, step) {
      var one = turn(set.months, found.all * names.length + step, found.isTurned);
      if (one.value !== null) { known[month] = one; }
    });
    var sat = Object.keys(known).sort();
    if (sat.length < 2) { caption.remove(); drawing.remove(); return; }
    function hundredth(value) { return value === null ? null : value / 100; }
    // A month without a comparison is a gap, which no line bridges.
    var rows = b.fillMonths(sat[0], sat[sat.length - 1]).map(function (month) {
      var one = known[month] || { value: null, low: null, high: null };
      return { month: month + "-01T00:00", value: hundredth(one.value), low: hundredth(one.low), high: hundredth(one.high) };
    });
    var x = { field: "month", type: "temporal", title: null, axis: b.timeAxis(rows.length), scale: { padding: 20 } };
    b.plot(drawing, {
      data: { values: rows }, height: 220,
      layer: [
        { mark: { type: "rule", strokeDash: [4, 4], color: "#888888" }, data: { values: [{ at: 0 }] }, encoding: { y: { field: "at", type: "quantitative", title: axis } } },
        { transform: [{ filter: "datum.low !== null" }], mark: { type: "rule", strokeWidth: 2, opacity: 0.55, color: b.PALETTE[0] }, encoding: { x: x, y: { field: "low", type: "quantitative", title: axis }, y2: { field: "high" } } },
        { mark: { type: "line", color: b.PALETTE[0], opacity: 0.7, invalid: "break-paths-show-path-domains" }, encoding: { x: x, y: { field: "value", type: "quantitative", title: axis } } },
        { mark: { type: "point", filled: true, size: 50, opacity: 1, color: b.PALETTE[0], invalid: "filter" }, encoding: { x: x, y: { field: "value", type: "quantitative", title: axis },
          tooltip: [{ field: "month", type: "temporal", format: "%Y-%m", title: " " }, { field: "value", type: "quantitative", title: " " }, { field: "low", type: "quantitative", title: " " }, { field: "high", type: "quantitative", title: " " }] } }
      ]
    }, textOf(sentence));
  }
  function textOf(element) { return element.querySelector(site.language === "zh" ? ".zh" : ".en").textContent; }

  function showPair(first, second) {
    var found = find(first, second), part = make("section", { "class": "pair" });
    part.appendChild(make("h3", {}, b.nameOf(first) + " – " + b.nameOf(second)));
    if (found.all === null) { part.appendChild(make("p", { "class": "empty" }, b.spoken("place_uncompared"))); return part; }
    var sentences = sayAll(found.all), sentence = sentences[0], history = make("div", { "class": "fig", role: "img" });
    var caption = make("figcaption", {}, b.spoken("months_shown", { a: b.nameOf(first), b: b.nameOf(second) }));
    part.appendChild(make("div", { "class": "beside" }, [make("div", { "class": "said" }, [
      make("p", { "class": "finding" }, sentence),
      make("ul", { "class": "verdict" }, sentences.slice(1).map(function (one) { return make("li", {}, one); })),
      make("p", { "class": "hint" }, [b.spoken("command_for_it"), ": ", make("code", {}, "proctor verdict " + data.models[first].model + " " + data.models[second].model)])
    ]), make("figure", {}, [caption, history])]));
    var rows = found.disciplines.filter(function (at) { return set.rows.difference[at] !== null; }).map(function (at) {
      var one = turn(set.rows, at, found.isTurned);
      return { name: set.disciplines[at % set.disciplines.length], value: one.value, low: one.low, high: one.high, isPaired: set.rows.pair_count[at] > 0, count: set.rows.pair_count[at] };
    });
    var whole = turn(set.pairs, found.all, found.isTurned), p = set.pairs.p_together[found.all];
    var drawing = make("div", { "class": "fig", role: "img" });
    function basis(isPaired, count) { return make("span", {}, [b.spoken(isPaired ? "paired" : "unpaired"), isPaired ? " (n=" + count + ")" : ""]); }
    part.appendChild(make("div", { "class": "beside" }, [drawing, make("div", { "class": "scroll", tabindex: "0", role: "group", "aria-label": b.nameOf(first) + " – " + b.nameOf(second) }, b.table(
      [{ words: b.wordsOf("discipline") }, { words: b.wordsOf("difference_short"), isNumber: true }, { words: b.wordsOf("together_interval"), isNumber: true }, { words: b.wordsOf("basis") }, { words: b.wordsOf("p_together"), isNumber: true }],
      [[make("b", {}, ["S · ", b.spoken("overall")]), b.change(whole.value), b.interval(whole.low, whole.high), basis(set.pairs.is_paired[found.all], set.pairs.pair_count[found.all]),
        { shown: p === null ? b.MISSING : p < 0.001 ? "< 0.001" : p.toFixed(3), value: p }]].concat(rows.map(function (r) {
        return [b.both(b.wordsOf(r.name)), b.change(r.value), b.interval(r.low, r.high, 2), basis(r.isPaired, r.count), { shown: "", value: null }];
      }))
    ))]));
    var y = { field: "name", type: "nominal", sort: null, title: null };
    var axis = b.say("difference_short") + " (0–10)";
    setTimeout(function () {
      plotMonths(caption, history, found, sentence);
      b.plot(drawing, {
        data: { values: rows.map(function (r) { return { name: b.say(r.name), value: r.value / 100, low: r.low === null ? null : r.low / 100, high: r.high === null ? null : r.high / 100 }; }) }, height: 22 * rows.length,
        layer: [
          { data: { values: [{ at: 0 }] }, mark: { type: "rule", strokeDash: [4, 4], color: "#888888" }, encoding: { x: { field: "at", type: "quantitative", title: axis } } },
          { mark: { type: "rule", strokeWidth: 2, opacity: 0.55, color: b.PALETTE[0] }, encoding: { y: y, x: { field: "low", type: "quantitative", title: axis }, x2: { field: "high" } } },
          { mark: { type: "point", filled: true, size: 60, opacity: 1, color: b.PALETTE[0] }, encoding: { y: y, x: { field: "value", type: "quantitative", title: axis },
            tooltip: [{ field: "name", title: " " }, { field: "value", type: "quantitative", title: " " }, { field: "low", type: "quantitative", title: " " }, { field: "high", type: "quantitative", title: " " }] } }
        ]
      }, textOf(sentence));
    }, 0);
    return part;
  }

  function showProfiles(chosen) {
    var body = b.empty(document.getElementById("profiles"));
    var rows = [{ key: "score", texts: b.wordsOf("score") }, { key: "relative_score", texts: b.wordsOf("relative_score") }].concat(data.disciplines.map(function (name) {
      return { key: name.toLowerCase().replace(" ", "_"), texts: b.wordsOf(name), discipline: name };
    })).filter(function (r) {
      // A discipline that none of them sat says nothing.
      return chosen.some(function (p) { var row = edition.model.indexOf(p); return row >= 0 && edition[r.key][row] !== null; });
    });
    var drawing = make("div", { "class": "fig", role: "img" }), names = chosen.map(b.nameOf), drawn = [];
    body.appendChild(drawing);
    body.appendChild(make("div", { "class": "scroll", tabindex: "0", role: "group", "aria-label": b.say("profiles_beside") }, b.table(
      [{ words: b.wordsOf("discipline") }].concat(names.map(function (name) { return { words: [name, name], isNumber: true }; })), rows.map(function (r) {
        return [b.both(r.texts)].concat(chosen.map(function (p) {
          var row = edition.model.indexOf(p);
          return row < 0 ? { shown: b.spoken("not_sat"), value: null } : { shown: b.answers(edition, row, b.number(edition[r.key][row]), r.discipline), value: edition[r.key][row] };
        }));
      }))));
    chosen.forEach(function (p) {
      var row = edition.model.indexOf(p);
      data.disciplines.forEach(function (name) {
        var score = row < 0 ? null : edition[name.toLowerCase().replace(" ", "_")][row];
        if (score !== null) { drawn.push({ name: b.say(name), model: b.nameOf(p), value: score / 100 }); }
      });
    });
    b.plot(drawing, {
      data: { values: drawn }, height: 26 * b.unique(drawn.map(function (one) { return one.name; })).length,
      mark: { type: "point", filled: true, size: 70, opacity: 1 }, encoding: {
        y: { field: "name", type: "nominal", sort: null, title: null }, x: { field: "value", type: "quantitative", title: b.say("discipline_score"), scale: { zero: false } },
        color: { field: "model", type: "nominal", title: null, sort: names, legend: { orient: "top" }, scale: { domain: names, range: b.PALETTE } },
        shape: { field: "model", type: "nominal", title: null, sort: names, scale: { domain: names } },
        tooltip: [{ field: "model", title: " " }, { field: "name", title: " " }, { field: "value", type: "quantitative", title: " " }]
      }
    }, b.say("profiles_beside") + ": " + names.join(", "));
  }
  function show() {
    var chosen = readChosen(), pairs = b.empty(document.getElementById("pairs"));
    showChips(chosen);
    document.getElementById("of").textContent = edition.month;
    if (chosen.length < 2) {
      pairs.appendChild(make("p", { "class": "empty" }, b.spoken("choose_two")));
      b.empty(document.getElementById("profiles"));
      return;
    }
    chosen.slice(1).forEach(function (other) { pairs.appendChild(showPair(chosen[0], other)); });
    showProfiles(chosen);
  }

  b.lengthen(set.rows, set.rows.difference.length);
  edition = b.editionsOf(set.month, "zero_shot").filter(function (e) { return !e.isRepetition; })[0] || data.editions[0];
  adder.addEventListener("change", function () { if (adder.value !== "") { choose(readChosen().concat([Number(adder.value)])); } });
  site.whenChanged(show);
  show();
})();
