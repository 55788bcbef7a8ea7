// The probe: a place in the pictures of the models, chosen by pointer, tap or arrow keys. The words
// under each picture give the class there and its probability.

let probe = null; // [across, down] in 0 … 1, or none

const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

// Let a canvas choose the probe; `changed` draws it.
function probing(canvas, changed) {
  const set = (place) => {
    probe = place;
    changed();
  };
  const at = ({ offsetX, offsetY }) => [
    offsetX / canvas.clientWidth,
    offsetY / canvas.clientHeight,
  ];
  canvas.addEventListener(
    "pointermove",
    (event) => event.pointerType === "mouse" && set(at(event)),
  );
  canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && set(null));
  canvas.addEventListener("pointerdown", (event) => set(at(event)));
  canvas.addEventListener("blur", () => set(null));
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Escape") set(null);
    if (!Object.hasOwn(STEPS, event.key)) return;
    event.preventDefault();
    const from = probe ?? [0.5, 0.5];
    const moved = STEPS[event.key].map((step, i) =>
      Math.min(0.99, Math.max(0.01, from[i] + 0.04 * step)),
    );
    set(probe ? moved : from);
  });
}

// The place of the probe in the plane.
function placeOf([across, down]) {
  return Float64Array.of((2 * across - 1) * REACH, (1 - 2 * down) * REACH);
}

// The wrong image under the probe in a picture of that size, or none.
function imageAt([across, down], width, height, wrong) {
  const { columns, rows, cell } = cellsOf(width, height);
  const [column, row] = [Math.floor((across * width) / cell), Math.floor((down * height) / cell)];
  return column < columns && row < rows ? wrong[row * columns + column] : undefined;
}

// The model's class for the input at `start` of `x` and its probability.
function answerOf(network, params, x, start) {
  const out = network.logits(params, x, start);
  const label = largest(out);
  return { label, percent: (100 * Math.exp(out[label] - normaliser(out))).toFixed(0) };
}

// A cross at the probe.
function cross(canvas) {
  const context = canvas.getContext("2d");
  const [x, y] = [probe[0] * canvas.clientWidth, probe[1] * canvas.clientHeight];
  for (const [colour, lineWidth] of [
    [inkOf(canvas, "--ground"), 4],
    [inkOf(canvas, "--ink"), 1.5],
  ]) {
    Object.assign(context, { strokeStyle: colour, lineWidth });
    context.beginPath();
    context.moveTo(x - 9, y);
    context.lineTo(x + 9, y);
    context.moveTo(x, y - 9);
    context.lineTo(x, y + 9);
    context.stroke();
  }
}
