// Charts of the projector: lines over rounds, as SVG.

const BOX = { width: 640, height: 300, left: 52, right: 14, top: 14, bottom: 40 };
const DASHES = ["", "8 5"];

function vector(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// Round steps for an axis up to `most`.
function ticksOf(most, number = 5) {
  const rough = most / number;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
}

// Lines over rounds 0 … `rounds`. `series`: names with points [round, value]; `most`: the largest
// value of the axis, or null for that of the data.
function drawChart(svg, series, rounds, most, label) {
  const values = series.flatMap(({ points }) => points.map(([, value]) => value));
  const high = most ?? Math.max(1e-3, ...values) * 1.1;
  const across = BOX.width - BOX.left - BOX.right;
  const x = (round) => BOX.left + (across * round) / Math.max(1, rounds);
  const y = (value) => {
    const inner = BOX.height - BOX.top - BOX.bottom;
    return BOX.top + inner * (1 - Math.min(value, high) / high);
  };
  svg.setAttribute("viewBox", `0 0 ${BOX.width} ${BOX.height}`);
  svg.replaceChildren();
  for (const value of ticksOf(high)) {
    const at = y(value);
    const ends = { x1: BOX.left, x2: BOX.width - BOX.right, y1: at, y2: at };
    svg.append(vector("line", { class: "grid", ...ends }));
    const text = String(Number(value.toPrecision(3)));
    svg.append(vector("text", { x: BOX.left - 6, y: at + 5, "text-anchor": "end" }, text));
  }
  for (const value of ticksOf(rounds).filter(Number.isInteger)) {
    const place = { x: x(value), y: BOX.height - BOX.bottom + 20, "text-anchor": "middle" };
    svg.append(vector("text", place, String(value)));
  }
  const middle = { x: BOX.width / 2, y: BOX.height - 4, "text-anchor": "middle" };
  svg.append(vector("text", middle, _("round")));
  series.forEach(({ points }, i) => {
    const path = points.map(([round, value], at) => `${at ? "L" : "M"}${x(round)} ${y(value)}`);
    const dash = DASHES[i] ? { "stroke-dasharray": DASHES[i] } : {};
    svg.append(vector("path", { class: `line line-${i}`, d: path.join(""), ...dash }));
    for (const [round, value] of points.length > 40 ? points.slice(-1) : points) {
      svg.append(vector("circle", { class: `dot line-${i}`, cx: x(round), cy: y(value), r: 4 }));
    }
  });
  svg.setAttribute("aria-label", label);
}
