// The picture of a round in the space of parameters: the paths of the clients over the landscape of
// the loss.

const LEGEND = 22; // pixels at the top, for the legend
const LEVELS = 9; // shades of the landscape

// Where the points of `paths` stand in a picture, with w in its middle.
function placing({ reach }, width, height) {
  const half = Math.min(width, height - LEGEND) / 2;
  return ([x, y]) => [width / 2 + (x / reach) * half, (height + LEGEND) / 2 - (y / reach) * half];
}

// The paths of the clients from w, their ends in the colour of the label they have most, and the
// average.
function walks(canvas, paths, labelOf, chosen) {
  const { context, width, height } = prepared(canvas);
  const [ink, ground] = [inkOf(canvas, "--ink"), inkOf(canvas, "--ground")];
  if (!paths) {
    context.fillStyle = ink;
    context.font = "14px system-ui, sans-serif";
    context.textAlign = "center";
    context.fillText(say("before"), width / 2, height / 2, width - 10);
    return;
  }
  const at = placing(paths, width, height);
  if (paths.hills) hillside(context, paths.hills, hex(ink), [width, height]);
  const line = (points, colour, dash = [], thick = 1.5) => {
    context.beginPath();
    points.forEach((point) => context.lineTo(...at(point)));
    context.setLineDash(dash);
    Object.assign(context, { strokeStyle: colour, lineWidth: thick });
    context.stroke();
    context.setLineDash([]);
  };
  paths.points.forEach((points, j) => {
    const client = paths.clients[j];
    const colour = COLOURS[labelOf(client)];
    context.globalAlpha = chosen < 0 || chosen === client ? 1 : 0.25;
    line(points, colour, [], 2);
    if (paths.arrows.length) line([[0, 0], paths.arrows[j]], colour, [3, 3], 1);
    marker(context, labelOf(client), ...at(points.at(-1)), 4.5, ground);
  });
  context.globalAlpha = 1;
  if (paths.resting) {
    line([[0, 0], paths.moved], ink, [], 2.5);
    ring(context, ...at(paths.moved), ink, ground);
  }
  square(context, ...at([0, 0]), ink);
  legend(context, width, ink, ground, paths.resting);
}

function square(context, x, y, ink) {
  context.fillStyle = ink;
  context.fillRect(x - 4, y - 4, 8, 8);
}

function ring(context, x, y, ink, ground) {
  context.beginPath();
  context.arc(x, y, 5, 0, 2 * Math.PI);
  context.fillStyle = ground;
  context.fill();
  Object.assign(context, { strokeStyle: ink, lineWidth: 2.5 });
  context.stroke();
}

// What the signs mean, in a strip at the top: w, the new w, the clients.
function legend(context, width, ink, ground, resting) {
  const { old, average, client } = CATALOGUE.words.legend;
  context.fillStyle = ground;
  context.fillRect(0, 0, width, LEGEND);
  const signs = [
    [(x, y) => square(context, x, y, ink), old],
    [(x, y) => ring(context, x, y, ink, ground), average],
    [(x, y) => marker(context, 0, x, y, 4.5, ground), client],
  ];
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "left";
  let x = 10;
  for (const [draw, words] of signs) {
    if (words === average && !resting) continue;
    draw(x, LEGEND / 2);
    context.fillStyle = ink;
    context.fillText(words, x + 9, LEGEND / 2 + 4);
    x += 30 + context.measureText(words).width;
  }
}

// The landscape of the loss as levels of a map: a stronger shade is a higher loss.
function hillside(context, hills, ink, [width, height]) {
  const side = Math.sqrt(hills.length);
  const [low, high] = [Math.min(...hills), Math.max(...hills)];
  const size = 160;
  const image = new ImageData(size, size);
  const colour = rgb(ink);
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      const value = between(hills, side, (row / size) * side - 0.5, (column / size) * side - 0.5);
      const level = Math.round(((value - low) / (high - low || 1)) * LEVELS) / LEVELS;
      image.data.set([...colour, 12 + 78 * level], 4 * (row * size + column));
    }
  }
  const map = new OffscreenCanvas(size, size);
  map.getContext("2d").putImageData(image, 0, 0);
  const span = Math.min(width, height - LEGEND);
  context.drawImage(map, (width - span) / 2, LEGEND, span, span);
}

// The value at a place between the points of a grid.
function between(grid, side, row, column) {
  const limit = (place) => Math.min(Math.max(place, 0), side - 1.001);
  const [r, c] = [limit(row), limit(column)];
  const first = Math.floor(r) * side + Math.floor(c);
  const [down, right] = [r % 1, c % 1];
  const top = grid[first] * (1 - right) + grid[first + 1] * right;
  const bottom = grid[first + side] * (1 - right) + grid[first + side + 1] * right;
  return top * (1 - down) + bottom * down;
}
