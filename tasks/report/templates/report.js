(function () {
  "use strict";
  var root = document.documentElement;
  function all(selector, within) { return Array.prototype.slice.call((within || document).querySelectorAll(selector)); }

  function speak(language) {
    root.dataset.language = language;
    root.lang = language;
    all(".languages button").forEach(function (button) {
      button.setAttribute("aria-pressed", String(button.dataset.language === language));
    });
    all("option[data-zh]").forEach(function (option) { option.textContent = option.dataset[language]; });
  }
  all(".languages button").forEach(function (button) {
    button.addEventListener("click", function () { speak(button.dataset.language); });
  });
  speak(root.dataset.language);

  var filters = ["month", "style", "weights"].map(function (id) { return document.getElementById(id); });
  if (filters[0]) {
    var show = function () {
      var month = filters[0].value, style = filters[1].value, weights = filters[2].value;
      all("[data-month]").forEach(function (part) {
        var isOther = part.dataset.month !== month || part.dataset.style !== style;
        var isFiltered = part.dataset.weights && weights !== "all" && part.dataset.weights !== weights;
        part.hidden = isOther || Boolean(isFiltered);
      });
    };
    filters.forEach(function (filter) { filter.addEventListener("change", show); });
    show();
  }

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
  all("table.sortable").forEach(function (table) {
    all("thead th", table).forEach(function (heading, index) {
      heading.querySelector("button").addEventListener("click", function () {
        var isNumber = heading.classList.contains("num");
        var current = heading.getAttribute("aria-sort");
        var direction = current ? (current === "ascending" ? "descending" : "ascending") : (isNumber && index > 0 ? "descending" : "ascending");
        all("thead th", table).forEach(function (other) { other.removeAttribute("aria-sort"); });
        heading.setAttribute("aria-sort", direction);
        var sign = direction === "ascending" ? 1 : -1;
        var body = table.tBodies[0];
        Array.prototype.slice.call(body.rows)
          .map(function (row, position) { return { row: row, position: position, value: valueOf(row, index) }; })
          .sort(function (a, b) {
            if (a.value.isMissing !== b.value.isMissing) { return a.value.isMissing ? 1 : -1; }
            return sign * compare(a.value, b.value) || a.position - b.position;
          })
          .forEach(function (entry) { body.appendChild(entry.row); });
      });
    });
  });
})();
