// What every page shares: the language and light or dark, as the reader chose last. Loaded before the page is drawn.
(function () {
  "use strict";
  var root = document.documentElement, dark = window.matchMedia("(prefers-color-scheme: dark)"), chosen = "";
  // Some browsers keep nothing for a page that is opened from a disk.
  function recall(name) { try { return localStorage.getItem("proctor_" + name) || ""; } catch (error) { return ""; } }
  function remember(name, value) { try { localStorage.setItem("proctor_" + name, value); } catch (error) { return; } }
  function light(theme) {
    chosen = theme === "dark" || theme === "light" ? theme : "";
    if (chosen) { root.dataset.theme = chosen; } else { delete root.dataset.theme; }
    root.dataset.scheme = chosen || (dark.matches ? "dark" : "light");
    Array.prototype.forEach.call(document.querySelectorAll("button[data-theme]"), function (button) {
      button.setAttribute("aria-pressed", String(button.dataset.theme === root.dataset.scheme));
    });
  }
  light(recall("theme"));
  dark.addEventListener("change", function () { light(chosen); });
  document.addEventListener("DOMContentLoaded", function () {
    light(chosen);
    // On a narrow screen the page that is open may stand outside of its row.
    Array.prototype.forEach.call(document.querySelectorAll(".doors a[aria-current]"), function (link) {
      var row = link.closest(".doors");
      row.scrollLeft += Math.max(0, link.getBoundingClientRect().right - row.getBoundingClientRect().right);
    });
  });
  document.addEventListener("click", function (event) {
    var language = event.target.closest("[data-language]:not(html)");
    if (language) { remember("language", language.dataset.language); }
    // The server's own pages read it there.
    if (language && location.protocol !== "file:") { document.cookie = "proctor_language=" + language.dataset.language + "; path=/; max-age=31536000; samesite=lax"; }
    var button = event.target.closest("button[data-theme]");
    if (!button) { return; }
    remember("theme", button.dataset.theme);
    light(button.dataset.theme);
    document.dispatchEvent(new CustomEvent("themed"));
  });
  window.frame = { recall: recall, light: light };
})();
