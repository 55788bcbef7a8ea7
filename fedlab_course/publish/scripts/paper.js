"use strict";

// Figures on paper: replaces the pixels of Plotly by vectors, which are sharp in print and small in a PDF.
(() => {
  const MOST_CELLS = 4000; // with more cells, the pixels are the smaller file
  const SVG = "http://www.w3.org/2000/svg";
  const ink = document.createElement("canvas").getContext("2d");

  function rgb(colour) {
    ink.fillStyle = colour; // reads back as #rrggbb
    return [1, 3, 5].map((i) => parseInt(ink.fillStyle.slice(i, i + 2), 16));
  }

  // The colour at a share of a scale: ordered pairs [share, colour].
  function colourAt(scale, share) {
    const above = Math.max(1, scale.findIndex(([at]) => at >= share));
    const [[from, low], [to, high]] = [scale[above - 1], scale[above]];
    const part = to > from ? (share - from) / (to - from) : 1;
    const [a, b] = [rgb(low), rgb(high)];
    return `rgb(${a.map((value, i) => Math.round(value + part * (b[i] - value))).join(",")})`;
  }

  // A heat map with one rectangle for each cell; x and y are the edges of the cells.
  function cells({ trace, x, y, z }, layout) {
    const [across, up] = ["x", "y"].map((name) => layout[trace[`${name}axis`].replace(name, `${name}axis`)]);
    const shared = layout[trace.coloraxis]; // by several heat maps
    const [low, high, scale] = shared ? [shared.cmin, shared.cmax, shared.colorscale] : [trace.zmin, trace.zmax, trace.colorscale];
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", "vectors");
    z.forEach((line, i) => line.forEach((value, j) => {
      if (!Number.isFinite(value)) return;
      const [[left, right], [top, bottom]] = [[across, x, j], [up, y, i]].map(([axis, edges, at]) =>
        [axis.c2p(edges[at]), axis.c2p(edges[at + 1])].sort((one, other) => one - other));
      const share = Math.min(Math.max((value - low) / (high - low || 1), 0), 1);
      const rect = group.appendChild(document.createElementNS(SVG, "rect"));
      const [width, height] = [right - left - (trace.xgap ?? 0), bottom - top - (trace.ygap ?? 0)];
      const place = { x: left + (trace.xgap ?? 0) / 2, y: top + (trace.ygap ?? 0) / 2, width, height };
      for (const [name, size] of Object.entries(place)) rect.setAttribute(name, Math.max(size, 0).toFixed(2));
      rect.setAttribute("fill", colourAt(scale, share));
    }));
    return group;
  }

  function vectors(canvas) {
    for (const group of canvas.querySelectorAll(".heatmaplayer .hm")) {
      const drawn = group.__data__[0];
      const image = group.querySelector("image");
      const few = drawn.z.length * (drawn.z[0]?.length ?? 0) <= MOST_CELLS;
      if (image && few && !drawn.trace.zsmooth) image.replaceWith(cells(drawn, canvas._fullLayout));
    }
  }

  // Chromium stores one image in the PDF for each bar with a pattern, megabytes in all: on paper such a bar is hollow.
  function unpatterned(trace) {
    if (!trace.marker?.pattern?.shape) return trace;
    const { pattern, ...marker } = trace.marker;
    return { ...trace, marker: { ...marker, color: "rgba(0,0,0,0)", line: { color: marker.color, width: 1 } } };
  }

  const pixels = (canvas) => canvas.querySelectorAll(".vectors").forEach((group) => group.remove());
  window.fedlab = { ...window.fedlab, paper: { vectors, pixels, unpatterned } };
})();
