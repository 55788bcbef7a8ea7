"use strict";

// Slides: arrow keys, Page Up, Page Down, Home and End move between them. The first part of a slide
// that is taller than the window, mostly a figure, is drawn smaller.
(() => {
  const slides = [...document.querySelectorAll(".slide")];
  const now = () =>
    slides.findIndex((slide) => slide.getBoundingClientRect().bottom > window.innerHeight / 2);
  const steps = {
    ArrowRight: 1,
    ArrowDown: 1,
    PageDown: 1,
    ArrowLeft: -1,
    ArrowUp: -1,
    PageUp: -1,
  };

  function fit(slide) {
    const part = slide.querySelector(":scope > div");
    if (!part) return;
    part.style.setProperty("--fit", 1);
    part.style.setProperty("--gain", "0px");
    const excess = slide.offsetHeight - window.innerHeight;
    if (excess <= 0) return;
    part.style.setProperty("--fit", 1 - excess / part.offsetHeight);
    part.style.setProperty("--gain", `${-excess}px`);
  }

  const drawn = new ResizeObserver((entries) => {
    for (const { target } of entries) fit(target.closest(".slide"));
  });
  for (const part of document.querySelectorAll(".slide > div")) drawn.observe(part);
  window.addEventListener("resize", () => slides.forEach(fit));
  document.addEventListener("keydown", (event) => {
    const typed = event.target.closest("input, textarea, summary, [role=group]");
    if (typed || event.altKey || event.ctrlKey || event.metaKey) return;
    const to =
      event.key === "Home"
        ? 0
        : event.key === "End"
          ? slides.length - 1
          : now() + (steps[event.key] ?? NaN);
    const slide = slides[to];
    if (!slide) return;
    event.preventDefault();
    slide.scrollIntoView();
    slide.focus({ preventScroll: true });
  });
})();
