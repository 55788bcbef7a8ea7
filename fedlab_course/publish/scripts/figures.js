"use strict";

// Draws each figure from its JSON, and on paper as vectors that fit the width. Opening the table lists the points.
// `fedlab.show(figure, spec)` replaces the picture of a figure. The style sheet turns figures dark on a dark page.
(() => {
  const MOST_POINTS = 300; // nobody reads a longer list
  const MOST_LETTERS = 26; // in one line of an axis title on a phone
  const SMALL = 320; // pixels: the height of the figure on the start page
  const PAPER = 660; // pixels: the narrower of A4 and Letter between margins of 15 mm
  const narrow = window.matchMedia("(max-width: 600px)");
  // No button sends a chart to a server; all buttons are outside the picture.
  const CONFIG = { responsive: true, displayModeBar: false, displaylogo: false, showSendToCloud: false, plotlyServerURL: "" };
  const { legend, paper } = window.fedlab;
  const specs = new Map(); // figure → its picture
  const hidden = new Map(); // figure → the keys of curves that the reader has hidden
  let printing = false;

  function wrapped(text) {
    const length = (line) => line.replace(/<[^>]*>/g, "").length;
    return text.split(" ").reduce((lines, word) => {
      const longer = `${lines.at(-1)} ${word}`;
      return length(longer) <= MOST_LETTERS ? [...lines.slice(0, -1), longer.trim()] : [...lines, word];
    }, [""]).filter(Boolean).join("<br>");
  }

  function layoutFor(layout, small) {
    const fitted = { ...layout, autosize: true, uirevision: "kept" };
    delete fitted.width;
    if (small) fitted.height = SMALL;
    if (printing) return { ...fitted, autosize: false, width: PAPER, height: Math.min(layout.height ?? 450, 420) };
    if (narrow.matches) {
      fitted.font = { ...layout.font, size: 12 };
      fitted.margin = { ...layout.margin, l: 48, r: 8 };
      fitted.legend = { ...layout.legend, orientation: "h", x: 0, xanchor: "left" };
      Object.assign(fitted.legend, { y: 0, yref: "container", yanchor: "bottom" });
      for (const axis of Object.keys(layout).filter((key) => /^xaxis\d*$/.test(key) && layout[key].title?.text)) {
        fitted[axis] = { ...layout[axis], title: { ...layout[axis].title, text: wrapped(layout[axis].title.text) } };
      }
    }
    return fitted;
  }

  function draw(figure) {
    const canvas = figure.querySelector(".canvas");
    const spec = structuredClone(specs.get(figure)); // Plotly writes into what it is given
    const seen = legend.without(spec.data, hidden.get(figure));
    const data = printing ? seen.map(paper.unpatterned) : seen;
    const drawn = Plotly.react(canvas, { data, layout: layoutFor(spec.layout ?? {}, figure.matches(".small")), frames: spec.frames, config: CONFIG });
    if (printing) return paper.vectors(canvas);
    paper.pixels(canvas);
    drawn.then(() => {
      makeRoom(canvas);
      legend.connect(figure, hidden.get(figure), () => draw(figure));
    });
  }

  // On a phone, legend entries are below each other: make the figure taller, so that the data keep their room. If the
  // axes share one scale, the width limits the data instead.
  function makeRoom(canvas) {
    const legend = canvas.querySelector(".legend");
    if (narrow.matches && legend && !canvas._fullLayout.yaxis.scaleanchor) {
      Plotly.relayout(canvas, { height: canvas._fullLayout.height + legend.getBoundingClientRect().height });
    }
  }

  function cell(row, tag, value) {
    const element = row.appendChild(document.createElement(tag));
    element.textContent = typeof value === "number" ? Number(value.toPrecision(5)) : (value ?? "");
    return element;
  }

  function tableOf(columns, rows) {
    const scroll = document.createElement("div");
    scroll.className = "table";
    scroll.tabIndex = 0; // so that it can be scrolled with the keyboard
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", "Data of the figure");
    const table = scroll.appendChild(document.createElement("table"));
    const head = table.createTHead().insertRow();
    columns.forEach((name) => (cell(head, "th", name).scope = "col"));
    const body = table.createTBody();
    rows.forEach((values) => {
      const row = body.insertRow();
      values.forEach((value) => cell(row, "td", value));
    });
    return scroll;
  }

  function pointsOf(trace, name) {
    if (trace.z) {
      return trace.z.flatMap((line, i) => Array.from(line, (z, j) => [name, trace.x?.[j] ?? j, trace.y?.[i] ?? i, z]));
    }
    return Array.from(trace.x ?? [], (x, i) => [name, x, trace.y?.[i]]);
  }

  function listPoints(figure) {
    const canvas = figure.querySelector(".canvas");
    const details = figure.querySelector("details");
    details.querySelector("details")?.remove();
    const visible = canvas._fullData.filter((trace) => trace.hoverinfo !== "skip");
    const rows = visible.flatMap((trace) => pointsOf(trace, canvas.data[trace.index].name)); // without default names such as "trace 0"
    if (rows.length === 0 || rows.length > MOST_POINTS) return;
    const { xaxis, yaxis } = specs.get(figure).layout ?? {};
    const names = ["series", xaxis?.title?.text || "x", yaxis?.title?.text || "y", "value"];
    const points = details.appendChild(document.createElement("details"));
    points.appendChild(document.createElement("summary")).textContent = "All points";
    points.appendChild(tableOf(names.slice(0, rows[0].length), rows));
  }

  function button(bar, words, action) {
    const made = bar.appendChild(document.createElement("button"));
    made.type = "button";
    made.textContent = words;
    made.addEventListener("click", action);
  }

  function addTools(figure) {
    const canvas = figure.querySelector(".canvas");
    const bar = document.createElement("div");
    bar.className = "tools";
    const axes = () => Object.keys(canvas._fullLayout).filter((key) => /^[xy]axis\d*$/.test(key));
    const initial = (axis) => specs.get(figure).layout?.[axis]?.range;
    const ranges = (axis) => (initial(axis) ? [`${axis}.range`, [...initial(axis)]] : [`${axis}.autorange`, true]);
    button(bar, "Reset view", () => Plotly.relayout(canvas, Object.fromEntries(axes().map(ranges))));
    const size = () => ({ width: canvas.clientWidth, height: canvas.clientHeight });
    button(bar, "Save as SVG", () => Plotly.downloadImage(canvas, { format: "svg", filename: "figure", ...size() }));
    canvas.after(bar);
  }

  // Replace the picture, its description and its data.
  function show(figure, spec) {
    specs.set(figure, spec);
    draw(figure);
    const { alt, table } = spec.layout?.meta ?? {};
    const details = figure.querySelector("details");
    if (alt) {
      figure.querySelector(".canvas").setAttribute("aria-label", alt);
      details.querySelector("p").textContent = alt;
    }
    if (table) details.querySelector(".table")?.replaceWith(tableOf(table.columns, table.rows));
    if (details.open) listPoints(figure);
  }

  function failed(figure) {
    figure.querySelector(".canvas").remove();
    figure.querySelector("details").open = true;
    const words = document.createElement("p");
    words.textContent = "The chart did not load: load the page again. Its description and data are below.";
    figure.prepend(words);
  }

  window.fedlab = { ...window.fedlab, show };
  const figures = [...document.querySelectorAll("figure.plot")];
  if (!window.Plotly) figures.forEach(failed);
  else {
    for (const figure of figures) {
      hidden.set(figure, new Set());
      specs.set(figure, JSON.parse(figure.querySelector(":scope > script").textContent));
      draw(figure);
      addTools(figure);
      figure.querySelector("details").addEventListener("toggle", ({ target }) => target.open && listPoints(figure));
    }
    const again = () => figures.forEach(draw);
    for (const [event, value] of [["beforeprint", true], ["afterprint", false]]) {
      window.addEventListener(event, () => {
        printing = value;
        again();
      });
    }
  }
})();
