"use strict";

// Slides: arrow keys, Page Up, Page Down, Home and End move between them.
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
