// Applies the stored choice of light or dark colours before the page is drawn.
(() => {
  document.documentElement.dataset.scripts = "on";
  let chosen = null;
  try {
    chosen = localStorage.getItem("sparring-theme");
  } catch {
    // A browser may refuse storage to local files; then the system default applies.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
