"use strict";

// Draw each figure from the JSON beside it, and list its points below its table when that is opened.
const NARROW = window.matchMedia("(max-width: 600px)").matches;
const MOST_POINTS = 300; // a longer list is of use to nobody
const MOST_LETTERS = 26; // of an axis title in one line on a telephone

function wrapped(text) {
  const length = (line) => line.replace(/<[^>]*>/g, "").length;
  return text.split(" ").reduce((lines, word) => {
    const longer = `${lines.at(-1)} ${word}`;
    return length(longer) <= MOST_LETTERS ? [...lines.slice(0, -1), longer.trim()] : [...lines, word];
  }, [""]).filter(Boolean).join("<br>");
}

function layoutFor(layout) {
  const fitted = { ...layout, autosize: true };
  delete fitted.width;
  if (NARROW) {
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

// On a telephone the entries of a legend stand below each other: give them room that the data do not lose. Where the
// axes share one scale, the width is what limits the data.
function makeRoom(canvas) {
  const legend = canvas.querySelector(".legend");
  if (NARROW && legend && !canvas._fullLayout.yaxis.scaleanchor) {
    Plotly.relayout(canvas, { height: canvas._fullLayout.height + legend.getBoundingClientRect().height });
  }
}

function cell(row, tag, value) {
  const element = row.appendChild(document.createElement(tag));
  element.textContent = typeof value === "number" ? Number(value.toPrecision(5)) : (value ?? "");
  return element;
}

function pointsOf(trace, name) {
  if (trace.z) {
    return trace.z.flatMap((line, i) => Array.from(line, (z, j) => [name, trace.x?.[j] ?? j, trace.y?.[i] ?? i, z]));
  }
  return Array.from(trace.x ?? [], (x, i) => [name, x, trace.y?.[i]]);
}

function listPoints(details, canvas, layout) {
  const visible = canvas._fullData.filter((trace) => trace.hoverinfo !== "skip");
  const rows = visible.flatMap((trace) => pointsOf(trace, canvas.data[trace.index].name)); // no made-up "trace 0"
  if (rows.length === 0 || rows.length > MOST_POINTS) return;
  const names = ["series", layout.xaxis?.title?.text || "x", layout.yaxis?.title?.text || "y", "value"];
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  names.slice(0, rows[0].length).forEach((name) => (cell(head, "th", name).scope = "col"));
  const body = table.createTBody();
  rows.forEach((values) => {
    const row = body.insertRow();
    values.forEach((value) => cell(row, "td", value));
  });
  const points = details.appendChild(document.createElement("details"));
  points.appendChild(document.createElement("summary")).textContent = "All points";
  points.appendChild(document.createElement("div")).className = "table";
  points.lastChild.appendChild(table);
}

for (const figure of document.querySelectorAll("figure.plot")) {
  const canvas = figure.querySelector(".canvas");
  const details = figure.querySelector("details");
  const spec = JSON.parse(figure.querySelector("script").textContent);
  const layout = spec.layout ?? {};
  const config = { responsive: true, displaylogo: false, ...spec.config };
  Plotly.newPlot(canvas, { data: spec.data, layout: layoutFor(layout), frames: spec.frames, config }).then(makeRoom);
  details.addEventListener("toggle", () => listPoints(details, canvas, layout), { once: true });
}
