// Light or dark as it was chosen here before, set before anything is drawn.
(() => {
  document.documentElement.dataset.scripts = "on";
  let chosen = null;
  try {
    chosen = localStorage.getItem("sparring-theme");
  } catch {
    // A browser may refuse storage to files; then the system decides.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
