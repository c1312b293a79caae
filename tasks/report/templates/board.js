// What the pages of candidates share: words in both languages, elements, and the data of every edition.
(function () {
  "use strict";
  var words = JSON.parse(document.getElementById("words").textContent);
  var data = window.proctorData.board;
  var MISSING = "–";
  // A column whose values are all the same comes as one.
  function lengthen(columns, count) {
    Object.keys(columns).forEach(function (name) {
      var values = columns[name];
      if (values === null || typeof values !== "object" || !("all" in values)) { return; }
      columns[name] = [];
      for (var at = 0; at < count; at += 1) { columns[name].push(values.all); }
    });
  }
  data.editions.forEach(function (edition) { lengthen(edition, edition.model.length); });

  // A value that differs by language is a pair.
  function fill(text, values, language) {
    return text.replace(/\{(\w+)\}/g, function (whole, name) {
      if (!values || !(name in values)) { return whole; }
      return Array.isArray(values[name]) ? values[name][language] : values[name];
    });
  }
  function say(key, values) { var language = site.language === "zh" ? 0 : 1; return fill(words[key][language], values, language); }
  function wordsOf(key) { return words[key] || [key, key]; }

  // Names of candidates and organisations are other people's text: they only ever become text nodes.
  function make(tag, attributes, children) {
    var element = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) {
      if (attributes[name] === null || attributes[name] === undefined) { return; }
      if (name === "class") { element.className = attributes[name]; } else { element.setAttribute(name, attributes[name]); }
    });
    (Array.isArray(children) ? children : [children]).forEach(function (child) {
      if (child === null || child === undefined || child === "") { return; }
      element.appendChild(typeof child === "object" ? child : document.createTextNode(String(child)));
    });
    return element;
  }
  function both(texts) {
    return make("span", {}, [make("span", { "class": "zh", lang: "zh" }, texts[0]), make("span", { "class": "en", lang: "en" }, texts[1])]);
  }
  function spokenText(texts, values) { return both([fill(texts[0], values, 0), fill(texts[1], values, 1)]); }
  function spoken(key, values) { return spokenText(words[key], values); }
  function empty(element) { while (element.firstChild) { element.removeChild(element.firstChild); } return element; }

  // Numbers come in hundredths.
  function number(value, digits) { return value === null || value === undefined ? MISSING : (value / 100).toFixed(digits === undefined ? 2 : digits).replace(/^-(?=[0.]*$)/, ""); }
  function signed(value, digits) { return value === null || value === undefined ? MISSING : (value > 0 ? "+" : "") + number(value, digits); }
  function interval(low, high, digits) {
    if (low === null || high === null || low === undefined || high === undefined) { return MISSING; }
    return number(low, digits === undefined ? 1 : digits) + (low < 0 || high < 0 ? " … " : "–") + number(high, digits === undefined ? 1 : digits);
  }
  function range(low, high) { return low === null || high === null ? MISSING : low === high ? String(low) : low + "–" + high; }

  // A simulated candidate may bear the name of a real one: it is asked for with a mark.
  function nameOf(place) { var model = data.models[place]; return model.model + (model.is_simulated && isMixed ? " *" : ""); }
  var isMixed = data.models.some(function (m) { return m.is_simulated; }) && data.models.some(function (m) { return !m.is_simulated; });
  function findModel(name) {
    for (var place = 0; place < data.models.length; place += 1) { if (nameOf(place) === name) { return place; } }
    return -1;
  }
  function months() { return unique(data.editions.map(function (e) { return e.month; })).sort().reverse(); }
  function unique(values) { return values.filter(function (value, at) { return values.indexOf(value) === at; }); }
  function editionsOf(month, style) { return data.editions.filter(function (e) { return e.month === month && e.style === style; }); }
  // The first sitting of a month, not its repetition: what stands for the month.
  function sittings(place, style) {
    return data.editions.filter(function (e) { return e.style === style && !e.isRepetition && e.model.indexOf(place) >= 0; })
      .map(function (e) { return { edition: e, row: e.model.indexOf(place) }; })
      .sort(function (a, b) { return a.edition.month < b.edition.month ? -1 : 1; });
  }
  function option(value, texts, chosen) {
    var element = make("option", { value: value, "data-zh": texts[0], "data-en": texts[1] }, texts[site.language === "zh" ? 0 : 1]);
    element.selected = value === chosen;
    return element;
  }
  function heading(texts, isNumber) {
    return make("th", { scope: "col", "class": isNumber ? "num" : null }, make("button", { type: "button" }, both(texts)));
  }
  // A table with headings that sort; a cell is text, an element, or {shown, value} with what it sorts by.
  function table(headings, rows) {
    var element = make("table", { "class": "sortable" }, [
      make("thead", {}, make("tr", {}, headings.map(function (one) { return heading(one.words, one.isNumber); }))),
      make("tbody", {}, rows.map(function (cells) {
        return make("tr", {}, cells.map(function (cell, at) {
          var isValue = cell !== null && typeof cell === "object" && "shown" in cell;
          var attributes = { "class": headings[at].isNumber ? "num" : null, "data-value": isValue ? (cell.value === null || cell.value === undefined ? "" : cell.value) : null };
          if (at === 0) { attributes.scope = "row"; }
          return make(at === 0 ? "th" : "td", attributes, isValue ? cell.shown : cell);
        }));
      }))
    ]);
    site.makeSortable(element);
    return element;
  }
  function value(hundredths, digits) { return { shown: number(hundredths, digits), value: hundredths }; }
  function change(hundredths, digits) { return { shown: signed(hundredths, digits), value: hundredths }; }
  function plot(place, spec, finding) {
    if (!window.vegaEmbed) { return; }
    spec.$schema = "https://vega.github.io/schema/vega-lite/v6.json";
    spec.width = spec.width || "container";
    site.draw(place, spec, finding);
  }

  // Every month between the first and the last: one without a session is a row without a value, which breaks the line.
  function fillMonths(first, last) {
    var found = [], year = Number(first.slice(0, 4)), month = Number(first.slice(5));
    for (;;) {
      var name = year + "-" + (month < 10 ? "0" : "") + month;
      if (name > last) { return found; }
      found.push(name);
      month += 1;
      if (month > 12) { month = 1; year += 1; }
    }
  }
  // A tick a month, or the name of one month would stand at several; too many for that thin themselves out.
  function timeAxis(months) {
    return { format: "%Y-%m", labelOverlap: true, labelAngle: 0, tickCount: months <= 28 ? "month" : undefined };
  }
  // Where a server serves the page every number opens its answers; in a folder it is text.
  var opens = document.documentElement.dataset.answers;
  function answers(edition, row, text, discipline) {
    if (!opens || text === MISSING) { return text; }
    var asked = [["edition", edition.id], ["model", data.models[edition.model[row]].model], ["style", edition.style], ["discipline", discipline || ""]];
    return make("a", { "class": "answers", href: opens + "?" + asked.filter(function (one) { return one[1]; }).map(function (one) { return one[0] + "=" + encodeURIComponent(one[1]); }).join("&") }, text);
  }

  // A score of a row, which opens its answers and sorts by its value.
  function opened(edition, row, name) { return { shown: answers(edition, row, number(edition[name][row])), value: edition[name][row] }; }

  window.board = {
    data: data, say: say, wordsOf: wordsOf, make: make, both: both, spoken: spoken, spokenText: spokenText, empty: empty, number: number, signed: signed, interval: interval, range: range,
    nameOf: nameOf, findModel: findModel, months: months, unique: unique, editionsOf: editionsOf, sittings: sittings, option: option, table: table, value: value,
    change: change, plot: plot, answers: answers, opened: opened, fillMonths: fillMonths, timeAxis: timeAxis, lengthen: lengthen, MISSING: MISSING, isMixed: isMixed,
    PALETTE: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
  };
})();
