// The pictures of data: clients as bars, decision regions, wrong images. Labels have colours and
// shapes.

const COLOURS = CATALOGUE.colours.labels;
const GRID = 72; // points of the decision regions on each side
const REACH = 1.4; // the plane shows −REACH … REACH

function rgb(colour) {
  return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
}

const INKS = COLOURS.map(rgb);

// A canvas in device pixels, cleared; returns its context and its size in CSS pixels.
function prepared(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

// The labels of each client as stacked bars, as high as it has samples.
function bars(svg, parts, y, chosen) {
  const [width, height] = [460, 130];
  const most = Math.max(...parts.map((part) => part.length));
  const [step, gap] = [width / parts.length, parts.length > 40 ? 0.5 : 2];
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  parts.forEach((part, k) => {
    let top = height;
    mixOf(part, y).forEach(([label, count]) => {
      const tall = (count / most) * (height - 4);
      top -= tall;
      const opacity = chosen < 0 || chosen === k ? 1 : 0.25;
      const [x, middle] = [k * step + gap / 2, top + tall / 2 + 4];
      shape(
        "rect",
        { x, y: top, width: step - gap, height: tall, fill: COLOURS[label], opacity },
        svg,
      );
      const inside = {
        x: (k + 0.5) * step,
        y: middle,
        "text-anchor": "middle",
        fill: CATALOGUE.colours.paper,
        opacity,
      };
      if (step > 22 && tall > 14) text(label, inside, svg);
    });
  });
}

// The labels of some samples, [label, number], in order.
function mixOf(samples, y) {
  const counts = [];
  for (const sample of samples) counts[y[sample]] = (counts[y[sample]] ?? 0) + 1;
  return Array.from(counts.entries()).filter(([, count]) => count);
}

// The class of each place of the plane, and the training points; those of the `chosen` client stand
// out.
function regions(canvas, network, params, set, part) {
  const { context, width, height } = prepared(canvas);
  const image = new ImageData(GRID, GRID);
  const point = new Float64Array(2);
  for (let row = 0; row < GRID; row += 1) {
    for (let column = 0; column < GRID; column += 1) {
      point[0] = ((2 * (column + 0.5)) / GRID - 1) * REACH;
      point[1] = (1 - (2 * (row + 0.5)) / GRID) * REACH;
      const out = network.logits(params, point, 0);
      const best = largest(out);
      const sure = Math.exp(out[best] - normaliser(out));
      image.data.set(
        [...INKS[best], 30 + 120 * (sure - 1 / out.length)],
        4 * (row * GRID + column),
      );
    }
  }
  const small = new OffscreenCanvas(GRID, GRID);
  small.getContext("2d").putImageData(image, 0, 0);
  context.drawImage(small, 0, 0, width, height);
  const edge = inkOf(canvas, "--ground");
  const [side, down] = [width / (2 * REACH), height / (2 * REACH)];
  for (const sample of part ?? set.y.keys()) {
    if (!part && sample % 2) continue; // half of the points: the regions stay visible
    const [x, y] = [set.x[2 * sample], set.x[2 * sample + 1]];
    marker(context, set.y[sample], (REACH + x) * side, (REACH - y) * down, part ? 4.5 : 2.8, edge);
  }
}

// One shape and colour for each label, with a thin `edge` in the colour of the page.
function marker(context, label, x, y, r, edge) {
  context.beginPath();
  const corners = [0, 3, 4, 5, 6][label % 5];
  if (!corners) context.arc(x, y, r, 0, 2 * Math.PI);
  for (let i = 0; i < corners; i += 1) {
    const angle = (2 * Math.PI * i) / corners - Math.PI / 2;
    context.lineTo(x + 1.25 * r * Math.cos(angle), y + 1.25 * r * Math.sin(angle));
  }
  context.closePath();
  context.fillStyle = COLOURS[label];
  context.fill();
  context.strokeStyle = edge;
  context.lineWidth = 0.8;
  context.stroke();
}

function inkOf(element, name) {
  return getComputedStyle(element).getPropertyValue(name);
}

// How wrong images fill a picture: columns, rows and the size of a cell.
function cellsOf(width, height) {
  const columns = Math.max(1, Math.floor(width / 56));
  const cell = width / columns;
  return { columns, rows: Math.round(height / cell), cell };
}

// Some of the `wrong` images of `set`, each with the model's answer.
function wrongImages(canvas, network, params, set, wrong) {
  const { context, width, height } = prepared(canvas);
  const { columns, rows, cell } = cellsOf(width, height);
  const [ink, alarm] = [inkOf(canvas, "--ink"), inkOf(canvas, "--bad")];
  const [r, g, b] = rgb(hex(ink));
  const dark = document.createElement("canvas");
  [dark.width, dark.height] = [8, 8];
  context.imageSmoothingEnabled = false;
  context.font = "bold 15px system-ui, sans-serif";
  wrong.slice(0, columns * rows).forEach((sample, i) => {
    const image = new ImageData(8, 8);
    for (let p = 0; p < 64; p += 1) image.data.set([r, g, b, 255 * set.x[64 * sample + p]], 4 * p);
    dark.getContext("2d").putImageData(image, 0, 0);
    const [x, y] = [(i % columns) * cell, Math.floor(i / columns) * cell];
    context.drawImage(dark, x + 4, y + (cell - 38) / 2, 38, 38);
    context.fillStyle = alarm;
    context.fillText(network.classify(params, set.x, 64 * sample), x + 44, y + cell / 2 + 5);
  });
}

// A colour of the style sheet as #rrggbb.
function hex(colour) {
  const probe = new OffscreenCanvas(1, 1).getContext("2d");
  probe.fillStyle = colour.trim();
  return probe.fillStyle;
}
