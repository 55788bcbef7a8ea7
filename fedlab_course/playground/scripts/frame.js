// The page in a cell of JupyterLab: it follows the theme of JupyterLab, it is as high as what it
// shows, and it comes into view. Where the document around the page is closed to it, the system's
// theme and the given height stay.

function around() {
  try {
    return window.frameElement?.ownerDocument.body ?? null;
  } catch {
    return null;
  }
}

function settle() {
  const body = around();
  if (!body || location.protocol !== "about:") return;
  document.body.classList.add("framed");
  const height = () => {
    const { height: pixels } = document.body.getBoundingClientRect();
    window.frameElement.style.height = `${Math.ceil(pixels)}px`;
  };
  new ResizeObserver(height).observe(document.body);
  if (!body.dataset.jpThemeLight) return;
  const theme = () => {
    document.documentElement.style.colorScheme =
      body.dataset.jpThemeLight === "true" ? "light" : "dark";
    redraw();
  };
  new body.ownerDocument.defaultView.MutationObserver(theme).observe(body, {
    attributeFilter: ["data-jp-theme-light"],
  });
  theme();
  height();
  appear(window.frameElement);
}

// Scroll to a frame that begins on the screen and ends below it: a cell has just run there.
function appear(frame) {
  const { top, bottom } = frame.getBoundingClientRect();
  const screen = frame.ownerDocument.documentElement.clientHeight;
  if (top > 0 && top < screen && bottom > screen) frame.scrollIntoView({ block: "nearest" });
}
