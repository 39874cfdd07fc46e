// Measures the time from an action to the animation frame that shows its result.
(() => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const find = (selector) => document.querySelector(selector);
  const middle = async (steps, act) => {
    const times = [];
    for (const step of steps) {
      const start = performance.now();
      act(step);
      await painted();
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
  };
  window.fill = (text) => {
    find("#filter").value = text;
    find("#filter").dispatchEvent(new Event("input"));
  };
  window.typing = () => middle(["r", "re", "rec", "record 1", "record 12", "record", ""], window.fill);
  window.scrolling = async () => {
    const tree = find("#tree");
    const parts = Array.from({ length: 21 }, (_, part) => part / 20);
    const took = await middle(parts, (part) => {
      tree.scrollTop = tree.scrollHeight * part;
    });
    await painted();
    const last = [...document.querySelectorAll(".row.test")].at(-1);
    tree.scrollTop = 0;
    return { took, last: last.getAttribute("aria-posinset") };
  };
  window.opening = (view) => middle([1, 2, 3], () => find(`[data-view=${view}]`).click());
  window.nextTest = () => middle(Array(20), () => find("[aria-label='The next test']").click());
})();
