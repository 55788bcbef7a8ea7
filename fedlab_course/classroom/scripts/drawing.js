// From strokes to an image of 8 × 8 numbers 0 … 16, as the digits data set was made: a bitmap of
// 32 × 32, where a digit is as high as the bitmap, up to 20 pixels wide and as thick as to cover 31
// of 100 pixels; then the number of black pixels in each block of 4 × 4.

const SIDE = 32;
const WIDE = 20;
const INK = 0.31 * SIDE * SIDE; // black pixels
const STRETCH = 1.6; // a narrow digit, such as 1, is not stretched more than this
const THICK = [0.8, 6]; // half the width of a stroke, in pixels

// The bitmap [32 × 32] of strokes, each a list of points [x, y]; 1 is black.
function bitmapOf(strokes) {
  let [low, high] = THICK;
  for (let i = 0; i < 9; i += 1) {
    const middle = (low + high) / 2;
    const black = painted(strokes, middle).reduce((a, b) => a + b);
    if (black < INK) low = middle;
    else high = middle;
  }
  return painted(strokes, low);
}

// The strokes in the middle of the bitmap, `radius` thick.
function painted(strokes, radius) {
  const points = strokes.flat();
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  const fits = (room, span) => (room - 2 * radius) / Math.max(span, 1e-6);
  const [wide, high] = [fits(WIDE, right - left), fits(SIDE, bottom - top)];
  const [across, down] = [Math.min(wide, STRETCH * high), Math.min(high, STRETCH * wide)];
  const place = ([x, y]) => [
    SIDE / 2 + (x - (left + right) / 2) * across,
    SIDE / 2 + (y - (top + bottom) / 2) * down,
  ];
  const bitmap = new Uint8Array(SIDE * SIDE);
  for (const stroke of strokes) {
    const placed = stroke.map(place);
    placed.forEach((point, i) => paint(bitmap, placed[Math.max(0, i - 1)], point, radius));
  }
  return bitmap;
}

// Blacken the pixels whose centres are at most `radius` from the segment.
function paint(bitmap, [ax, ay], [bx, by], radius) {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const from = (a, b) => Math.max(0, Math.floor(Math.min(a, b) - radius));
  const to = (a, b) => Math.min(SIDE - 1, Math.ceil(Math.max(a, b) + radius));
  for (let row = from(ay, by); row <= to(ay, by); row += 1) {
    for (let column = from(ax, bx); column <= to(ax, bx); column += 1) {
      const [px, py] = [column + 0.5 - ax, row + 0.5 - ay];
      const along = length ? Math.min(1, Math.max(0, (px * dx + py * dy) / length)) : 0;
      const [ox, oy] = [px - along * dx, py - along * dy];
      if (ox * ox + oy * oy <= radius * radius) bitmap[row * SIDE + column] = 1;
    }
  }
}

// The black pixels in each block of 4 × 4: 64 numbers 0 … 16.
function blocksOf(bitmap) {
  const blocks = new Uint8Array(64);
  bitmap.forEach((black, i) => {
    const [row, column] = [Math.floor(i / SIDE), i % SIDE];
    blocks[8 * Math.floor(row / 4) + Math.floor(column / 4)] += black;
  });
  return blocks;
}

// 64 numbers 0 … 16 as letters A … Q, and back.
function lettersOf(blocks) {
  return String.fromCharCode(...Array.from(blocks, (value) => 65 + value));
}

function blocksFrom(letters) {
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0) - 65);
}

// A pad on a canvas: strokes of a finger, a pen or a mouse, drawn as they come.
class Pad {
  constructor(canvas, changed) {
    Object.assign(this, { canvas, changed, strokes: [], pointer: null });
    canvas.addEventListener("pointerdown", (event) => this.begin(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => this.end(event));
    }
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  }

  begin(event) {
    if (this.pointer !== null) return;
    event.preventDefault();
    this.pointer = event.pointerId;
    this.canvas.setPointerCapture?.(event.pointerId);
    this.strokes.push([this.point(event)]);
    this.line(this.strokes.at(-1));
  }

  move(event) {
    if (event.pointerId !== this.pointer) return;
    const stroke = this.strokes.at(-1);
    const events = event.getCoalescedEvents?.() ?? [];
    for (const one of events.length ? events : [event]) {
      const point = this.point(one);
      const [x, y] = stroke.at(-1);
      if (Math.abs(point[0] - x) + Math.abs(point[1] - y) > 0.004) stroke.push(point);
      this.line(stroke.slice(-2));
    }
  }

  end(event) {
    if (event.pointerId !== this.pointer) return;
    this.pointer = null;
    this.changed();
  }

  line(points) {
    const context = this.canvas.getContext("2d");
    const { width } = this.canvas;
    context.lineWidth = width / 14;
    context.lineCap = context.lineJoin = "round";
    context.strokeStyle = getComputedStyle(this.canvas).color;
    context.beginPath();
    const [[x, y]] = points;
    context.moveTo(x * width, y * width);
    for (const [toX, toY] of points) context.lineTo(toX * width, toY * width);
    context.stroke();
  }

  redraw() {
    const { width, height } = this.canvas;
    this.canvas.getContext("2d").clearRect(0, 0, width, height);
    for (const stroke of this.strokes) this.line(stroke);
    this.changed();
  }

  undo() {
    this.strokes.pop();
    this.redraw();
  }

  clear() {
    this.strokes = [];
    this.redraw();
  }

  image() {
    return lettersOf(blocksOf(bitmapOf(this.strokes)));
  }
}
