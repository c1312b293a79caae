(function () {
  "use strict";
  var root = document.documentElement;
  function all(selector, within) { return Array.prototype.slice.call((within || document).querySelectorAll(selector)); }

  // What a reader chose stands in the address, as in #lang=en&theme=dark&at=drift, and goes along to the other pages.
  function decode(text) { try { return decodeURIComponent(text); } catch (error) { return text; } }
  function readAddress() {
    var found = {};
    location.hash.slice(1).split("&").forEach(function (part) {
      var at = part.indexOf("=");
      if (at > 0) { found[part.slice(0, at)] = decode(part.slice(at + 1)); } else if (part) { found.at = decode(part); }
    });
    return found;
  }
  var address = readAddress();
  var listeners = [];
  function write(names) {
    return names.filter(function (name) { return address[name]; }).map(function (name) {
      return name + "=" + encodeURIComponent(address[name]);
    }).join("&");
  }
  function keepAddress() {
    var text = write(Object.keys(address));
    history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
    var carried = write(["lang", "theme"]);
    all("a[href$='.html']").concat(all("a[data-page]")).forEach(function (link) {
      link.dataset.page = link.dataset.page || link.getAttribute("href");
      link.setAttribute("href", link.dataset.page + (carried ? "#" + carried : ""));
    });
  }

  function drawFigures() {
    all(".fig").forEach(function (place) {
      var written = place.parentNode.querySelector("script.spec");
      if (!written) { return; }
      draw(place, choose(JSON.parse(written.textContent)), place.dataset[root.dataset.language]);
    });
  }
  // One drawing serves both languages: where its words differ it has {"$zh": ..., "$en": ...}.
  function choose(part) {
    if (Array.isArray(part)) { return part.map(choose); }
    if (part === null || typeof part !== "object") { return part; }
    if ("$zh" in part) { return part["$" + root.dataset.language]; }
    var chosen = {};
    Object.keys(part).forEach(function (key) { chosen[key] = choose(part[key]); });
    return chosen;
  }
  function draw(place, spec, finding) {
    place.setAttribute("aria-label", finding);
    if (spec.usermeta) { place.style.minWidth = spec.usermeta.least_width + "px"; }
    // Colours of the page itself: the same drawing serves light, dark and print.
    spec.config = {
      background: "transparent", font: "Noto Sans, Noto Sans CJK SC, PingFang SC, Microsoft YaHei, sans-serif", aria: false,
      view: { stroke: null }, title: { color: "currentColor" },
      axis: { labelColor: "currentColor", titleColor: "currentColor", gridColor: "currentColor", gridOpacity: 0.15, domainColor: "currentColor",
        tickColor: "currentColor", labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 220, labelSeparation: 6 },
      legend: { labelColor: "currentColor", titleColor: "currentColor", labelFontSize: 12, labelLimit: 260, symbolLimit: 40,
        // What is beyond the edge of a telephone is not read.
        columns: Math.max(1, Math.min(3, Math.floor(place.clientWidth / 200))) },
      text: { color: "currentColor" }
    };
    window.vegaEmbed(place, spec, { renderer: "svg", actions: false, tooltip: { theme: "custom" } }).then(function (result) {
      // The figure has its sentence; its parts say nothing to who cannot see them.
      place.querySelector("svg").setAttribute("aria-hidden", "true");
      place.dataset.isDrawn = "true";
      return result;
    });
  }

  function speak(language) {
    root.dataset.language = language;
    root.lang = language;
    all("button[data-language]").forEach(function (button) {
      button.setAttribute("aria-pressed", String(button.dataset.language === language));
    });
    all("option[data-zh], title[data-zh]").forEach(function (named) { named.textContent = named.dataset[language]; });
    if (window.vegaEmbed) { drawFigures(); }
    listeners.forEach(function (listener) { listener(); });
  }
  // What the address names, else what the reader chose last, else what their browser asks for first of the two.
  function chooseLanguage() {
    var asked = (navigator.languages || []).map(function (one) { return one.slice(0, 2); });
    return [address.lang, window.frame.recall("language")].concat(asked).filter(function (one) { return one === "zh" || one === "en"; })[0] || root.dataset.language;
  }
  function go() {
    var place = address.at && document.getElementById(address.at);
    if (place) { place.scrollIntoView(); }
  }
  function apply() {
    if (address.theme) { window.frame.light(address.theme); }
    speak(chooseLanguage());
    keepAddress();
    go();
  }
  all("button[data-language]").forEach(function (button) {
    button.addEventListener("click", function () { address.lang = button.dataset.language; speak(address.lang); keepAddress(); });
  });
  document.addEventListener("themed", function () { address.theme = root.dataset.theme; keepAddress(); });
  all("a[href^='#']").forEach(function (link) {
    link.addEventListener("click", function (event) {
      event.preventDefault();
      address.at = link.getAttribute("href").slice(1);
      keepAddress();
      go();
      var place = document.getElementById(address.at);
      if (place) { place.setAttribute("tabindex", "-1"); place.focus({ preventScroll: true }); }
    });
  });
  window.addEventListener("hashchange", function () { address = readAddress(); apply(); });
  apply();

  // An empty value sorts last in both directions: it is missing, not small.
  function valueOf(row, index) {
    var cell = row.cells[index];
    var text = cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
    return { isMissing: text === "", text: text, number: cell.dataset.value === undefined ? NaN : Number(text) };
  }
  function compare(a, b) {
    if (!isNaN(a.number) && !isNaN(b.number)) { return a.number - b.number; }
    return a.text.localeCompare(b.text);
  }
  function sort(table, index, direction) {
    all("thead th", table).forEach(function (other) { other.removeAttribute("aria-sort"); });
    table.tHead.rows[0].cells[index].setAttribute("aria-sort", direction);
    var sign = direction === "ascending" ? 1 : -1;
    var body = table.tBodies[0];
    Array.prototype.slice.call(body.rows)
      .map(function (row, position) { return { row: row, position: position, value: valueOf(row, index) }; })
      .sort(function (a, b) {
        if (a.value.isMissing !== b.value.isMissing) { return a.value.isMissing ? 1 : -1; }
        return sign * compare(a.value, b.value) || a.position - b.position;
      })
      .forEach(function (entry) { body.appendChild(entry.row); });
  }
  function makeSortable(table) {
    all("thead th", table).forEach(function (heading, index) {
      heading.querySelector("button").addEventListener("click", function () {
        var isNumber = heading.classList.contains("num");
        var current = heading.getAttribute("aria-sort");
        sort(table, index, current ? (current === "ascending" ? "descending" : "ascending") : (isNumber && index > 0 ? "descending" : "ascending"));
        table.dispatchEvent(new CustomEvent("sorted", { detail: { index: index, direction: heading.getAttribute("aria-sort") } }));
      });
    });
  }
  all("table.sortable").forEach(makeSortable);

  // What the scripts of single pages use: their own state in the address, beside the language and the theme.
  window.site = {
    all: all, draw: draw, sort: sort, makeSortable: makeSortable,
    get language() { return root.dataset.language; },
    read: function (name) { return address[name] || ""; },
    keep: function (name, value) { if (value) { address[name] = value; } else { delete address[name]; } keepAddress(); },
    link: function (page, name, value) {
      var carried = write(["lang", "theme"]);
      return page + "#" + name + "=" + encodeURIComponent(value) + (carried ? "&" + carried : "");
    },
    whenChanged: function (listener) { listeners.push(listener); }
  };
})();
