// Line charts as SVG. A style of its own makes an exported file look like the page.

const SVG = "http://www.w3.org/2000/svg";
const EDGE = { left: 46, right: 14, top: 24, bottom: 40 };
const FONT = { "font-size": 12, "font-family": "system-ui, sans-serif", fill: "currentColor" };

function shape(tag, attributes, place) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  place?.append(made);
  return made;
}

function text(words, attributes, place) {
  shape("text", { ...FONT, ...attributes }, place).textContent = words;
}

function stroke(d, attributes, place) {
  shape(
    "path",
    { d, fill: "none", "stroke-width": 2, "stroke-linejoin": "round", ...attributes },
    place,
  );
}

// A circle for A, a square for B, which has a dashed line.
function mark(x, y, { colour, dash }, place) {
  if (!dash) shape("circle", { cx: x, cy: y, r: 3, fill: colour }, place);
  else
    shape("rect", { x: x - 3, y: y - 3, width: 6, height: 6, fill: "none", stroke: colour }, place);
}

// The end of the line of a run that diverged.
function lastMark(x, y, { colour }, place) {
  const d = `M${x - 6} ${y - 6}l12 12m0 -12l-12 12`;
  stroke(d, { class: "cross", stroke: colour, "stroke-width": 3.5 }, place);
}

// Draw `lines` into `svg`: each has points [x, y], colour, dash and a name, and `diverged` if its
// run did. `dots`: no lines between the points. `least`: the horizontal axis reaches at least so
// far.
function chart(svg, { lines, x, y, dots = false, range = null, least = 1 }) {
  const [width, height] = [Math.max(240, svg.clientWidth), Math.max(140, svg.clientHeight)];
  const [left, right, bottom] = [EDGE.left, width - EDGE.right, height - EDGE.bottom];
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const drawn = lines.map((line) => ({
    ...line,
    points: line.points.filter((point) => point.every(Number.isFinite)),
  }));
  const values = (i) => drawn.flatMap(({ points }) => points.map((point) => point[i]));
  const xs = scale(values(0), left, right, dots ? null : [0, least]);
  const ys = scale(values(1), bottom, EDGE.top, range);
  for (const value of ys.ticks) {
    const at = ys.at(value);
    stroke(`M${left} ${at}H${right}`, { stroke: "currentColor", "stroke-opacity": 0.15 }, svg);
    text(short(value), { x: left - 6, y: at + 4, "text-anchor": "end" }, svg);
  }
  const middle = { "text-anchor": "middle" };
  for (const value of xs.ticks)
    text(short(value), { x: xs.at(value), y: bottom + 16, ...middle }, svg);
  text(x, { x: (left + right) / 2, y: height - 6, ...middle }, svg);
  text(y, { transform: `translate(12 ${bottom / 2 + 10}) rotate(-90)`, ...middle }, svg);
  drawn.forEach((line, i) => {
    const { points, name, colour, dash } = line;
    const look = { stroke: colour, "stroke-dasharray": dash };
    const places = points.map(([a, b]) => [xs.at(a).toFixed(1), ys.at(b).toFixed(1)]);
    if (!dots && places.length) stroke(`M${places.join("L")}`, look, svg);
    for (const place of dots ? places : places.slice(-1)) {
      (line.diverged && !dots ? lastMark : mark)(...place.map(Number), line, svg);
    }
    const start = left + (i * (right - left)) / 2;
    stroke(`M${start} 10H${start + 26}`, look, svg);
    mark(start + 13, 10, line, svg);
    text(name, { x: start + 32, y: 14 }, svg);
  });
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
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + 1e-9 * step; tick += step)
    ticks.push(tick);
  return { ticks, at: (value) => from + ((value - low) / (high - low)) * (to - from) };
}

function short(value) {
  return String(Number(value.toPrecision(3)));
}

// The chart as the text of a file, in the colours of paper.
function asFile(svg) {
  const copy = svg.cloneNode(true);
  const [, , width, height] = svg.getAttribute("viewBox").split(" ");
  const { ink, paper } = CATALOGUE.colours;
  const look = { xmlns: SVG, width, height, style: `color:${ink};background:${paper}` };
  for (const [name, value] of Object.entries(look)) copy.setAttribute(name, value);
  return new XMLSerializer().serializeToString(copy);
}
