"use strict";

// Draw each figure from the JSON beside it, and fill its data table when it is opened.
const NARROW = window.matchMedia("(max-width: 600px)").matches;

function layoutFor(layout) {
  const fitted = { ...layout, autosize: true };
  delete fitted.width;
  if (NARROW) {
    fitted.margin = { ...layout.margin, l: 48, r: 8 };
    fitted.legend = { ...layout.legend, orientation: "h", x: 0, xanchor: "left", y: -0.25, yanchor: "top" };
  }
  return fitted;
}

function cell(row, tag, value) {
  const element = row.appendChild(document.createElement(tag));
  element.textContent = typeof value === "number" ? Number(value.toPrecision(5)) : (value ?? "");
}

function rowsOf(trace) {
  const name = trace.name ?? "";
  if (trace.z) {
    return trace.z.flatMap((line, i) => Array.from(line, (z, j) => [name, trace.x?.[j] ?? j, trace.y?.[i] ?? i, z]));
  }
  return Array.from(trace.x ?? [], (x, i) => [name, x, trace.y?.[i]]);
}

function fillTable(details, traces, layout) {
  const visible = traces.filter((trace) => trace.hoverinfo !== "skip");
  const rows = visible.flatMap(rowsOf);
  const names = ["series", layout.xaxis?.title?.text ?? "x", layout.yaxis?.title?.text ?? "y", "value"];
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  names.slice(0, rows[0]?.length ?? 3).forEach((name) => cell(head, "th", name));
  const body = table.createTBody();
  rows.forEach((values) => {
    const row = body.insertRow();
    values.forEach((value) => cell(row, "td", value));
  });
  details.appendChild(document.createElement("div")).className = "table";
  details.lastChild.appendChild(table);
}

for (const figure of document.querySelectorAll("figure.plot")) {
  const canvas = figure.querySelector(".canvas");
  const details = figure.querySelector("details");
  const spec = JSON.parse(figure.querySelector("script").textContent);
  const config = { responsive: true, displaylogo: false, ...spec.config };
  Plotly.newPlot(canvas, { data: spec.data, layout: layoutFor(spec.layout ?? {}), frames: spec.frames, config });
  details.addEventListener("toggle", () => fillTable(details, canvas._fullData, spec.layout ?? {}), { once: true });
}
