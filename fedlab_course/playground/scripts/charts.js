// Line charts as SVG. A style of its own makes an exported file look like the page.

const SVG = "http://www.w3.org/2000/svg";
const BOX = { width: 460, height: 250, left: 46, right: 10, top: 24, bottom: 40 };
const FONT = { "font-size": 12, "font-family": "system-ui, sans-serif", fill: "currentColor" };

function shape(tag, attributes, place) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  place?.append(made);
  return made;
}

// Draw `lines` into `svg`: each has points [x, y], colour, dash and a name. `dots`: no lines between the points.
function chart(svg, { lines, x, y, dots = false, range = null }) {
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${BOX.width} ${BOX.height}`);
  const points = lines.flatMap((line) => line.points).filter((point) => point.every(Number.isFinite));
  const xs = scale(points.map((point) => point[0]), BOX.left, BOX.width - BOX.right, dots ? null : [0, 1]);
  const ys = scale(points.map((point) => point[1]), BOX.height - BOX.bottom, BOX.top, range);
  axis(svg, xs, ys, x, y);
  for (const { points: own, colour, dash } of lines) {
    const places = own.filter((point) => point.every(Number.isFinite)).map(([a, b]) => [xs.at(a), ys.at(b)]);
    if (dots) {
      for (const [a, b] of places) shape(dash ? "rect" : "circle", mark(a, b, dash, colour), svg);
    } else if (places.length) {
      const d = `M${places.map((place) => place.map((value) => value.toFixed(1)).join(" ")).join("L")}`;
      shape("path", { d, fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash, "stroke-linejoin": "round" }, svg);
      const [a, b] = places.at(-1);
      shape(dash ? "rect" : "circle", mark(a, b, dash, colour), svg);
    }
  }
  lines.forEach(({ name, colour, dash }, i) => {
    const x0 = BOX.left + i * 190;
    shape("path", { d: `M${x0} 10H${x0 + 26}`, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash }, svg);
    shape(dash ? "rect" : "circle", mark(x0 + 13, 10, dash, colour), svg);
    shape("text", { x: x0 + 32, y: 14, ...FONT }, svg).textContent = name;
  });
}

// A circle for A, a square for B.
function mark(x, y, square, colour) {
  return square ? { x: x - 3, y: y - 3, width: 6, height: 6, fill: "none", stroke: colour, "stroke-width": 1.5 } : { cx: x, cy: y, r: 3, fill: colour };
}

function axis(svg, xs, ys, x, y) {
  const group = shape("g", FONT, svg);
  for (const value of ys.ticks) {
    const at = ys.at(value);
    shape("path", { d: `M${BOX.left} ${at}H${BOX.width - BOX.right}`, stroke: "currentColor", "stroke-opacity": 0.15 }, group);
    shape("text", { x: BOX.left - 6, y: at + 4, "text-anchor": "end" }, group).textContent = short(value);
  }
  for (const value of xs.ticks) {
    shape("text", { x: xs.at(value), y: BOX.height - BOX.bottom + 16, "text-anchor": "middle" }, group).textContent = short(value);
  }
  shape("text", { x: (BOX.left + BOX.width) / 2, y: BOX.height - 6, "text-anchor": "middle" }, group).textContent = x;
  const turned = { x: 12, y: BOX.height / 2 - 12, "text-anchor": "middle", transform: `rotate(-90 12 ${BOX.height / 2 - 12})` };
  shape("text", turned, group).textContent = y;
}

// Values to pixels, with round ticks.
function scale(values, from, to, range) {
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (range) [low, high] = [Math.min(low, range[0]), Math.max(high, range[1])];
  if (!Number.isFinite(low + high)) [low, high] = [0, 1];
  if (high - low < 1e-9) [low, high] = [low - 0.5, high + 0.5];
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  const ticks = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + 1e-9 * step; tick += step) ticks.push(tick);
  return { ticks, at: (value) => from + (value - low) / (high - low) * (to - from) };
}

function short(value) {
  return String(Number(value.toPrecision(3)));
}

// The chart as the text of a file, in the colours of paper.
function asFile(svg) {
  const copy = svg.cloneNode(true);
  Object.entries({ xmlns: SVG, width: BOX.width, height: BOX.height, style: "color:#1c1f23;background:#fff" }).forEach(([name, value]) => copy.setAttribute(name, value));
  return new XMLSerializer().serializeToString(copy);
}
