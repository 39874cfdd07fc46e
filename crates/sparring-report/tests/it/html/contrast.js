// Computes the contrast of an element's text with its background by WCAG 2.
window.contrast = (selector) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const linear = (part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const light = (color) => {
    const [r, g, b] = rgb(color).slice(0, 3).map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const it = document.querySelector(selector);
  let behind = it;
  while (rgb(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
  const one = light(getComputedStyle(it).color);
  const two = light(getComputedStyle(behind).backgroundColor);
  return (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
};
