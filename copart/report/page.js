"use strict";
(() => {
  // one scheme at a time; without scripts the page shows all of them
  const choices = document.querySelectorAll('input[name="scheme"]');
  const show = (scheme) => document.querySelectorAll(".panel[data-scheme]").forEach((panel) => {
    panel.hidden = panel.dataset.scheme !== scheme;
  });
  choices.forEach((choice) => {
    choice.addEventListener("change", () => show(choice.value));
    if (choice.checked) show(choice.value);
  });

  // a part that is pointed at stands out wherever the same scheme shows it; a click keeps it
  let kept = null;
  const clear = () => {
    document.querySelectorAll(".lit").forEach((e) => e.classList.remove("lit"));
    document.querySelectorAll("svg.dim").forEach((e) => e.classList.remove("dim"));
  };
  const light = (target) => {
    clear();
    if (!target) return;
    const scope = target.closest("[data-scheme]");
    const within = scope ? `[data-scheme="${CSS.escape(scope.dataset.scheme)}"] ` : "";
    const keys = [target.dataset.part, target.dataset.other].filter(Boolean);
    const both = keys.length === 2;
    for (const key of keys) {
      document.querySelectorAll(`${within}[data-part="${key}"], ${within}[data-other="${key}"]`).forEach((e) => {
        // of a matrix, an entry lights itself and not its whole row and column
        if (both && e.dataset.other && e !== target) return;
        e.classList.add("lit");
        e.closest("svg").classList.add("dim");
      });
    }
  };
  const part = (event) => event.target instanceof Element ? event.target.closest("[data-part]") : null;
  document.addEventListener("pointerover", (event) => { if (!kept) light(part(event)); });
  document.addEventListener("click", (event) => {
    kept = part(event);
    light(kept);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { kept = null; clear(); }
  });
})();
