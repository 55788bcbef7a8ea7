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
    const isKept = isHeld(place, task);
    const words = element("span", { class: "unseen" }, described(label, isKept, was, is));
    const shown = element("span", { "aria-hidden": "true" }, guess);
    const item = element("li", { class: is === undefined ? "" : right }, canvas, shown, words);
    if (isKept) item.classList.add("held");
    list.append(item);
  });
}

// A drawing in words: whether it is kept for the test, and what the model said and says.
function described(label, isKept, was, is) {
  const words = isKept
    ? [
        _("A {label}, kept for the test."),
        _("A {label}, kept for the test, the model said nothing and says {is}."),
        _("A {label}, kept for the test, the model said {was} and says {is}."),
      ]
    : [
        _("A {label}."),
        _("A {label}, the model said nothing and says {is}."),
        _("A {label}, the model said {was} and says {is}."),
      ];
  const said = is === undefined ? 0 : was === undefined ? 1 : 2;
  return filled(words[said], { label, was, is });
}

// The images that a person picks from who does not draw.
function offerSamples(images, pick) {
  const list = find("#samples");
  list.replaceChildren();
  images.forEach((letters, i) => {
    const canvas = element("canvas", { "aria-hidden": "true" });
    paintImage(canvas, letters);
    const named = { type: "button", "aria-label": filled(_("Sample {number}"), { number: i + 1 }) };
    const button = element("button", named, canvas);
    button.addEventListener("click", () => pick(letters));
    list.append(element("li", {}, button));
  });
}

// What left the phone: bytes, the newest update as a picture, and the labels that it shows.
function showSent(sent, change, labels) {
  const total =
    sent.messages === 1
      ? _("{number} message with {size} kB. No drawing, no label.")
      : _("{number} messages with {size} kB. No drawing, no label.");
  const size = (sent.bytes / 1000).toFixed(1);
  say("#sent-bytes", filled(total, { number: sent.messages, size }));
  if (!change) return;
  find("#update").hidden = false;
  pictureOf(change, find("#update canvas"));
  const names = labels.length ? labels.join(_(", ")) : _("none for sure");
  say("#seen", names);
}
