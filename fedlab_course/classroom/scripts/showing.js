// How the student's page shows things.

const find = (selector) => document.querySelector(selector);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function show(screen) {
  for (const one of document.querySelectorAll("main > section")) one.hidden = one.id !== screen;
}

function say(selector, text) {
  const place = find(selector);
  if (place.textContent !== text) place.textContent = text;
}

// An image of letters A … Q on a canvas of 8 × 8 pixels, in the colours of the page.
function paintImage(canvas, letters) {
  [canvas.width, canvas.height] = [8, 8];
  const context = canvas.getContext("2d");
  context.fillStyle = "black";
  blocksFrom(letters).forEach((value, i) => {
    context.globalAlpha = value / 16;
    context.fillRect(i % 8, Math.floor(i / 8), 1, 1);
  });
}

// The drawings of the task, each with what the model said before and after the round.
function showDrawings(places, task, before, after) {
  const list = find("#drawings");
  list.replaceChildren();
  places.forEach(({ label, drawing }, place) => {
    const canvas = element("canvas", { "aria-hidden": "true" });
    if (drawing) paintImage(canvas, drawing.image);
    const [was, is] = [before?.[place], after?.[place]];
    const right = is === label ? "right" : "wrong";
    const mark = is === label ? "✓" : "✗";
    const guess = is === undefined ? "" : `${was ?? "–"} → ${is} ${mark}`;
    const state = is === undefined ? "" : `, the model said ${was ?? "nothing"} and says ${is}`;
    const isKept = isHeld(place, task);
    const kept = isKept ? ", kept for the test" : "";
    const words = element("span", { class: "unseen" }, `A ${label}${kept}${state}.`);
    const shown = element("span", { "aria-hidden": "true" }, guess);
    const item = element("li", { class: is === undefined ? "" : right }, canvas, shown, words);
    if (isKept) item.classList.add("held");
    list.append(item);
  });
}

// The images that a person picks from who does not draw.
function offerSamples(images, pick) {
  const list = find("#samples");
  list.replaceChildren();
  images.forEach((letters, i) => {
    const canvas = element("canvas", { "aria-hidden": "true" });
    paintImage(canvas, letters);
    const button = element("button", { type: "button", "aria-label": `Sample ${i + 1}` }, canvas);
    button.addEventListener("click", () => pick(letters));
    list.append(element("li", {}, button));
  });
}

function countOf(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

// What left the phone: bytes, the newest update as a picture, and the labels that it shows.
function showSent(sent, change, labels) {
  const total = countOf(sent.messages, "message");
  say("#sent-bytes", `${total} with ${(sent.bytes / 1000).toFixed(1)} kB. No drawing, no label.`);
  if (!change) return;
  find("#update").hidden = false;
  pictureOf(change, find("#update canvas"));
  const names = labels.length ? labels.join(", ") : "none for sure";
  say("#seen", names);
}
