"use strict";

// The table of contents: marks the current section; on a narrow screen it closes after a choice.
(() => {
  const contents = document.querySelector(".toc");
  if (!contents) return;
  const fold = contents.querySelector("details");
  const here = contents.querySelector(".here");
  const header = document.querySelector("header");
  const aside = window.matchMedia("(min-width: 1180px)");
  const entries = [...contents.querySelectorAll("a")].map((link) => {
    return { link, heading: document.getElementById(decodeURIComponent(link.hash.slice(1))) };
  });
  let current;

  function follow() {
    const line = header.offsetHeight + (aside.matches ? 0 : contents.offsetHeight) + 40;
    const passed = entries.filter(({ heading }) => heading.getBoundingClientRect().top <= line);
    // At the end of the page the last sections are too short to reach the line.
    const atEnd = window.scrollY > 0 && window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2;
    const now = atEnd ? entries.at(-1) : passed.at(-1);
    if (now === current) return;
    current?.link.removeAttribute("aria-current");
    now?.link.setAttribute("aria-current", "true");
    here.textContent = now ? now.link.textContent : "";
    if (now && aside.matches) {
      const { offsetTop, offsetHeight } = now.link;
      const outside = offsetTop < contents.scrollTop || offsetTop + offsetHeight > contents.scrollTop + contents.clientHeight;
      if (outside) contents.scrollTop = offsetTop - contents.clientHeight / 2;
    }
    current = now;
  }

  function arrange() {
    fold.open = aside.matches;
    follow();
  }

  let waiting = false;
  window.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      follow();
    });
  }, { passive: true });
  contents.addEventListener("click", (event) => {
    if (event.target.closest("a") && !aside.matches) fold.open = false;
  });
  contents.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || aside.matches || !fold.open) return;
    fold.open = false;
    contents.querySelector("summary").focus();
  });
  aside.addEventListener("change", arrange);
  arrange();
})();

// Boxes that scroll can be scrolled with the keyboard.
(() => {
  const boxes = [...document.querySelectorAll("pre, .html, .output, .text, .formula, .table")];
  const look = () => {
    for (const box of boxes) {
      if (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  const watch = new ResizeObserver(look);
  boxes.forEach((box) => watch.observe(box));
  document.addEventListener("toggle", look, true);
})();

// Open closed folds while the page is printed.
(() => {
  const folded = new Set();
  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("main details:not([open])")) {
      if (fold.closest("figure")) continue; // the picture is printed instead
      folded.add(fold);
      fold.open = true;
    }
  });
  window.addEventListener("afterprint", () => {
    folded.forEach((fold) => (fold.open = false));
    folded.clear();
  });
})();
