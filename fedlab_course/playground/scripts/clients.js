// The clients as bars, which are a slider: arrow keys, pointer or tap choose a client.

let chosen = -1; // a client, or none

function pointing() {
  const place = find("#bars");
  const at = (event) => {
    const { left, width } = place.getBoundingClientRect();
    return Math.max(
      0,
      Math.min(parts.length - 1, Math.floor(((event.clientX - left) / width) * parts.length)),
    );
  };
  place.addEventListener(
    "pointermove",
    (event) => event.pointerType === "mouse" && choose(at(event)),
  );
  place.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && choose(-1));
  place.addEventListener("pointerdown", (event) =>
    choose(chosen === at(event) && event.pointerType !== "mouse" ? -1 : at(event)),
  );
  place.addEventListener("keydown", (event) => {
    const [next, before] = [chosen + 1, chosen - 1];
    const moves = {
      ArrowRight: next,
      ArrowUp: next,
      ArrowLeft: before,
      ArrowDown: before,
      Home: 0,
      End: parts.length - 1,
    };
    if (event.key === "Escape") choose(-1);
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(parts.length - 1, moves[event.key])));
  });
  document.addEventListener("pick", (event) => choose(event.detail));
}

function choose(client) {
  if (client === chosen) return;
  chosen = client;
  ask({ type: "watch", client });
  clients();
  redraw();
}

// Draw the bars, and say which client is chosen.
function clients() {
  bars(find("#bars"), parts, data.train.y, chosen);
  const one = chosen < 0 ? null : parts[chosen];
  const mix =
    one && mixOf(one, data.train.y).map(([label, number]) => say("label", { label, number }));
  const words = one
    ? say("client", { client: chosen + 1, number: one.length, mix: mix.join(", ") })
    : say("pick");
  find("#client").textContent = words;
  const place = find("#bars");
  place.ariaValueMin = 0;
  place.ariaValueMax = parts.length;
  place.ariaValueNow = chosen + 1;
  place.ariaValueText = words;
}
