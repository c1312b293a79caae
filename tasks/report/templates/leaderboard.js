// The leaderboard: the edition, the filters, the search and the order that stand in the address.
(function () {
  "use strict";
  if (!window.proctorData) { return; }
  var b = window.board, data = b.data, make = b.make;
  var form = document.getElementById("choose"), board = document.getElementById("board");
  var fields = ["month", "style", "weights", "family"].map(function (id) { return document.getElementById(id); });
  var search = document.getElementById("search"), columns = document.getElementById("columns");

  function placeOf(edition, row) {
    var low = edition.rank_low[row], high = edition.rank_high[row];
    if (edition.score[row] === null) { return b.spoken("place_without_score"); }
    if (low === null || high === null || edition.model.length === 1) { return b.spoken("place_uncompared"); }
    if (low === high) { return b.spoken(edition.rank[row] === 1 ? "place_first" : "place_certain"); }
    return b.spoken(high - low === 1 ? "place_shared_with_one" : "place_shared", { count: high - low });
  }
  function cell(text, value, name) {
    return make("td", { "class": "num" + (name ? " " + name : ""), "data-value": value === null || value === undefined ? "" : value }, text);
  }
  function tag(key, isWarning) { return make("span", { "class": "tag" + (isWarning ? " warn" : "") }, b.spoken(key)); }
  function bar(edition, row, scale) {
    var low = edition.score_low[row], high = edition.score_high[row], score = edition.score[row];
    var track = make("span", { "class": "track", "aria-hidden": "true" });
    if (low === null || score === null) { return track; }
    var reach = make("span", { "class": "reach" }), point = make("span", { "class": "point" });
    reach.style.left = at(low) + "%"; reach.style.width = Math.max(at(high) - at(low), 0.5) + "%"; point.style.left = at(score) + "%";
    track.appendChild(reach); track.appendChild(point);
    return track;
    function at(value) { return (value - scale.low) / (scale.high - scale.low) * 100; }
  }
  function findScale(editions) {
    var values = [];
    editions.forEach(function (e) { values = values.concat(e.score_low, e.score_high, e.score); });
    values = values.filter(function (v) { return v !== null; });
    if (!values.length) { return { low: 0, high: 10000 }; }
    return { low: Math.floor(Math.min.apply(null, values) / 1000) * 1000, high: Math.ceil(Math.max.apply(null, values) / 1000) * 1000 };
  }
  function drawRow(edition, row, scale) {
    var place = edition.model[row], model = data.models[place];
    var link = make("a", { href: site.link("candidate.html", "model", b.nameOf(place)), title: model.model }, model.model);
    return make("tr", {}, [
      cell(edition.rank[row] === null ? b.MISSING : edition.rank[row], edition.rank[row]),
      make("th", { scope: "row" }, [
        link, edition.is_reference[row] ? tag("reference_mark") : null, model.is_open ? tag("open") : null,
        edition.isRepetition ? tag("repetition", true) : null, model.is_simulated && b.isMixed ? tag("simulated", true) : null
      ]),
      cell(b.answers(edition, row, b.number(edition.score[row])), edition.score[row], "strong"),
      cell([bar(edition, row, scale), " ", b.interval(edition.score_low[row], edition.score_high[row])], edition.score_low[row]),
      cell([
        b.answers(edition, row, b.number(edition.equated_score[row])),
        edition.equated_score[row] === null ? "" : " (" + b.interval(edition.equated_low[row], edition.equated_high[row]) + ")",
        edition.is_equated_apart[row] ? tag("equated_apart", true) : null
      ], edition.equated_score[row]),
      cell(b.answers(edition, row, b.number(edition.relative_score[row])), edition.relative_score[row], "strong"),
      cell(b.range(edition.rank_low[row], edition.rank_high[row]), edition.rank_low[row]),
      make("td", { "class": "group" }, edition.group[row] || b.MISSING),
      cell([
        b.number(edition.corrected_score[row]),
        edition.chance_score[row] ? make("span", { "class": "faint" }, [" (", b.spoken("chance_score"), " " + (edition.chance_score[row] / 100).toFixed(1) + ")"]) : ""
      ], edition.corrected_score[row]),
      make("td", { "class": "faint said" }, placeOf(edition, row)),
      make("td", {}, model.organisation || b.MISSING),
      make("td", {}, model.family || b.MISSING),
      cell(b.interval(edition.relative_low[row], edition.relative_high[row]), edition.relative_low[row])
    ].concat(data.disciplines.map(function (discipline) {
      var name = discipline.toLowerCase().replace(" ", "_"), made = cell(b.answers(edition, row, b.number(edition[name][row]), discipline), edition[name][row], "tint");
      made.style.setProperty("--v", Math.round((edition[name][row] || 0) / 10));
      return made;
    }), [
      cell(b.number(edition.score_sd[row]), edition.score_sd[row], "faint"),
      cell(edition.pair_count[row], edition.pair_count[row], "faint"),
      cell(edition.repeat_count[row], edition.repeat_count[row]),
      cell(edition.question_count[row], edition.question_count[row]),
      cell(edition.unanswered_count[row], edition.unanswered_count[row], edition.unanswered_count[row] ? "missing" : ""),
      cell(edition.unparsed_count[row], edition.unparsed_count[row], edition.unparsed_count[row] ? "missing" : "")
    ]));
  }

  function isShown(model, choice) {
    if (choice.weights !== "all" && (choice.weights === "open") !== Boolean(model.is_open)) { return false; }
    if (choice.family !== "all" && model.family !== choice.family) { return false; }
    var text = (model.model + " " + (model.organisation || "")).toLowerCase();
    return !choice.search || text.indexOf(choice.search.toLowerCase()) >= 0;
  }
  function describe(edition) {
    var parts = [make("b", {}, edition.month)];
    if (edition.isRepetition) { parts.push(tag("repetition", true)); }
    [["edition", edition.id], ["revision", edition.revision], ["published_at", edition.published], [edition.style, ""], ["reference_model", edition.references.join(", ")],
      ["judge", edition.judges.join(", ")], ["bank_version", edition.banks.join(", ")]].forEach(function (one) {
      parts.push(" · ", b.spoken(one[0]), " ", one[1]);
    });
    parts.push(" · ", b.spoken("grade"), " ", b.both(edition.grade));
    var about = make("div", {}, [make("p", { "class": "edition" }, parts)]);
    if (edition.checks[1]) { about.appendChild(make("p", { "class": "hint checks" }, b.both(edition.checks))); }
    if (edition.unequated[1]) { about.appendChild(make("p", { "class": "hint unequated" }, b.both(edition.unequated))); }
    return about;
  }
  function warn(edition, notes) {
    if (edition.isProvisional) { add("provisional", "", [b.both(edition.provisional)]); }
    if (edition.gates[1]) { add("gates", edition.id + ": ", [b.both(edition.gates)]); }
    if (edition.isRepetition) { add("repetition", edition.id + ": ", [b.spoken("repetition_about")]); }
    function add(kind, before, rest) {
      notes.appendChild(make("div", { "class": "banner " + kind, role: "note" }, [make("strong", {}, b.spoken(kind)), " ", before].concat(rest)));
    }
  }

  function readChoice() {
    var months = b.months(), styles = ["zero_shot", "few_shot", "chain_of_thought"];
    // The latest month's own run, before a later month of which only a repetition is there.
    var own = months.filter(function (one) {
      return styles.some(function (style) { return b.editionsOf(one, style).some(function (edition) { return !edition.isRepetition; }); });
    });
    var month = months.indexOf(site.read("month")) >= 0 ? site.read("month") : own[0] || months[0];
    var sat = styles.filter(function (style) { return b.editionsOf(month, style).length; });
    var style = sat.indexOf(site.read("style")) >= 0 ? site.read("style") : sat[0];
    var families = Array.prototype.map.call(fields[3].options, function (o) { return o.value; });
    return {
      month: month, style: style, weights: ["open", "closed"].indexOf(site.read("weights")) >= 0 ? site.read("weights") : "all",
      family: families.indexOf(site.read("family")) >= 0 ? site.read("family") : "all", search: site.read("q"), sort: site.read("sort")
    };
  }
  function show() {
    var choice = readChoice(), editions = b.editionsOf(choice.month, choice.style), scale = findScale(editions);
    fields.forEach(function (field) { field.value = choice[field.id]; });
    if (document.activeElement !== search) { search.value = choice.search; }
    var notes = b.empty(document.getElementById("notes")), about = b.empty(document.getElementById("about-editions")), body = b.empty(board.tBodies[0]);
    var shown = 0, total = 0;
    columns.checked = site.read("columns") === "all";
    board.classList.toggle("brief", !columns.checked);
    board.classList.toggle("unequated", !editions.some(function (e) { return e.equated_score.some(function (value) { return value !== null; }); }));
    editions.forEach(function (edition) {
      warn(edition, notes);
      about.appendChild(describe(edition));
      edition.model.forEach(function (place, row) {
        total += 1;
        if (isShown(data.models[place], choice)) { shown += 1; body.appendChild(drawRow(edition, row, scale)); }
      });
    });
    b.empty(document.getElementById("count")).appendChild(shown ? b.spoken("shown_rows", { shown: shown, total: total }) : b.spoken("nothing_found"));
    b.empty(document.getElementById("scale")).appendChild(b.spoken("scale_about", { low: scale.low / 100, high: scale.high / 100 }));
    var sort = /^(\d+)([ad])$/.exec(choice.sort), heads = board.tHead.rows[0].cells.length;
    if (sort && Number(sort[1]) < heads) { site.sort(board, Number(sort[1]), sort[2] === "a" ? "ascending" : "descending"); } else { site.sort(board, 0, "ascending"); }
  }

  fields.forEach(function (field) {
    field.addEventListener("change", function () { site.keep(field.id, field.value === "all" ? "" : field.value); show(); });
  });
  columns.addEventListener("change", function () { site.keep("columns", columns.checked ? "all" : ""); show(); });
  search.addEventListener("input", function () { site.keep("q", search.value.trim()); show(); });
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  board.addEventListener("sorted", function (event) {
    var isFirst = event.detail.index === 0 && event.detail.direction === "ascending";
    site.keep("sort", isFirst ? "" : event.detail.index + event.detail.direction[0]);
  });
  site.whenChanged(show);
  show();
})();
