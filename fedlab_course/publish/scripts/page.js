"use strict";

// The table of contents marks the current section.
(() => {
  const contents = document.querySelector(".toc");
  if (!contents) return;
  const links = [...contents.querySelectorAll("a")];
  const headings = links.map((link) =>
    document.getElementById(decodeURIComponent(link.hash.slice(1))),
  );

  function follow() {
    const line = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) + 40;
    // At the end of the page the last sections are too short to reach the line.
    const atEnd =
      window.scrollY > 0 &&
      window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2;
    const now = atEnd
      ? links.length - 1
      : headings.findLastIndex((heading) => heading.getBoundingClientRect().top <= line);
    links.forEach((link, number) => (link.ariaCurrent = number === now ? "true" : null));
    contents.scrollTop = (links[now]?.offsetTop ?? 0) - contents.clientHeight / 2;
  }

  window.addEventListener("scroll", follow, { passive: true });
  follow();
})();

// Boxes that scroll can be scrolled with the keyboard.
(() => {
  const watch = new ResizeObserver((entries) => {
    for (const { target: box } of entries) {
      const scrolls =
        box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  });
  document
    .querySelectorAll("pre, .html, .output, .text, .formula, .table")
    .forEach((box) => watch.observe(box));
})();
