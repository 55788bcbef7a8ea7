// What a reader points at in one chart of an explorer shows in the other: a round lights its cohort among the clients,
// and a client tells its labels and its accuracy. Arrow keys do the same where a chart has the focus.
//
// live.js sends "fedlab-drawn" from the canvas of a chart after each drawing. What Plotly does not draw stands as JSON
// beside the figure: {clients: N, bitmaps: [base64 of T × N bits, …], cohorts: {curve: number of its bitmap},
// accuracy: {curve: [N numbers, in per cent]}, round: {curve: after which}}.
(() => {
  "use strict";
  if (globalThis.fedlabHover) return;
  globalThis.fedlabHover = true;

  const HELP = {
    clients: "Clients. Arrow keys move from client to client.",
    rounds: "Curves. Left and right move from round to round, up and down from curve to curve.",
  };
  const MOVES = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity };

  const known = new WeakSet();

  document.addEventListener("fedlab-drawn", ({ target: canvas, detail: { Plotly } }) => {
    const explorer = canvas.closest(".fedlab-training");
    if (!explorer) return;
    const kind = canvas.closest(".fedlab-strip") ? "clients" : "rounds";
    if (kind === "clients") clear(explorer);
    if (known.has(canvas)) return;
    known.add(canvas);
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "group");
    canvas.setAttribute("aria-label", HELP[kind]);
    const show = kind === "clients" ? showClient : showRound;
    const from = () => canvas.closest(".fedlab-training");
    canvas.on("plotly_hover", ({ points: [point] }) => show(from(), canvas, place(canvas, point), false));
    canvas.on("plotly_unhover", () => clear(from()));
    canvas.addEventListener("keydown", (event) => pressed(event, canvas, Plotly, kind, show));
    canvas.addEventListener("blur", () => {
      Plotly.Fx.unhover(canvas);
      clear(from());
    });
  });

  // The bars of the clients say who it is, wherever in a column the pointer is.
  function place(canvas, point) {
    const bars = canvas._fullData.findIndex((trace) => trace.type === "bar");
    return bars < 0 ? [point.curveNumber, point.pointNumber] : [bars, Math.round(point.x)];
  }

  function pressed(event, canvas, Plotly, kind, show) {
    const traces = canvas._fullData.flatMap((trace, i) => (trace.visible === true && trace.type !== "heatmap" ? [i] : []));
    const step = MOVES[event.key];
    const turn = kind === "rounds" && { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.target !== canvas || !traces.length || event.ctrlKey || event.metaKey || event.altKey) return;
    if (step === undefined && !turn) return;
    event.preventDefault();
    let [curve, number] = canvas.fedlabPlace ?? [traces[0], step < 0 ? Infinity : -1];
    if (turn) curve = traces[(traces.indexOf(curve) + turn + traces.length) % traces.length];
    if (!traces.includes(curve)) curve = traces[0];
    const last = canvas._fullData[curve].y.length - 1;
    number = Math.min(last, Math.max(0, Math.min(last + 1, number) + (step ?? 0)));
    canvas.fedlabPlace = [curve, number];
    if (kind === "rounds") Plotly.Fx.hover(canvas, [{ curveNumber: curve, pointNumber: number }]);
    show(canvas.closest(".fedlab-training"), canvas, canvas.fedlabPlace, true);
  }

  function showRound(explorer, canvas, [curve, number], spoken) {
    const { name } = canvas._fullData[curve];
    const cohort = cohortOf(about(explorer), name, number);
    if (!cohort) return clear(explorer);
    const who = `${cohort.length} ${cohort.length === 1 ? "client" : "clients"}`;
    const veiled = new Set(cohort);
    veil(explorer, (client) => !veiled.has(client));
    say(explorer, `Round ${number + 1}, ${name}: ${who} trained: ${cohort.join(", ")}`, spoken);
  }

  function showClient(explorer, canvas, [, client], spoken) {
    const labels = canvas._fullData.find((trace) => trace.type === "heatmap");
    const bars = canvas._fullData.find((trace) => trace.type === "bar");
    const held = Array.from(labels.y, (label, i) => [label, labels.z[i][client]]).filter(([, count]) => count > 0);
    const counts = held.map(([label, count]) => `${label} (${count})`).join(", ");
    const { accuracy = {}, round = {} } = about(explorer);
    const ends = Object.keys(accuracy).map((name) => `${name} ${accuracy[name][client]} % after round ${round[name]}`);
    const same = new Set(Object.values(round)).size === 1; // once is enough
    const told = same ? ends.map((end, i) => (i < ends.length - 1 ? end.replace(/ after round \d+$/, "") : end)) : ends;
    const text = `Client ${client}: ${bars.y[client]} samples of labels ${counts}` + (told.length ? `; accuracy on them: ${told.join(", ")}` : "");
    veil(explorer, (other) => other !== client, "fedlab-one");
    say(explorer, text, spoken);
  }

  function about(explorer) {
    const text = explorer.querySelector(".fedlab-main .fedlab-about")?.textContent;
    return text ? JSON.parse(text) : {};
  }

  function cohortOf({ clients, bitmaps, cohorts = {} }, name, number) {
    if (!(name in cohorts)) return null;
    const bytes = atob(bitmaps[cohorts[name]]);
    const found = [];
    for (let client = 0; client < clients; client++) {
      const bit = number * clients + client;
      if (bit >> 3 >= bytes.length) return null;
      if (bytes.charCodeAt(bit >> 3) & (128 >> (bit & 7))) found.push(client);
    }
    return found;
  }

  // A veil over the columns of those clients of whom `hidden` is true.
  function veil(explorer, hidden, look = "") {
    const canvas = explorer.querySelector(".fedlab-strip .js-plotly-plot");
    if (!canvas) return;
    const { xaxis, yaxis, yaxis2 } = canvas._fullLayout;
    const count = canvas._fullData.find((trace) => trace.type === "bar").y.length;
    const top = yaxis2._offset;
    const height = yaxis._offset + yaxis._length - top;
    const rectangles = [];
    for (let start = 0; start < count; start++) {
      if (!hidden(start)) continue;
      let end = start;
      while (end + 1 < count && hidden(end + 1)) end++;
      const [left, right] = [start - 0.5, end + 0.5].map((x) => xaxis._offset + xaxis.l2p(x));
      const box = document.createElement("i");
      Object.assign(box.style, { left: `${left}px`, width: `${right - left}px`, top: `${top}px`, height: `${height}px` });
      rectangles.push(box);
      start = end;
    }
    const veils = part(canvas, "fedlab-veil");
    veils.className = `fedlab-veil ${look}`;
    veils.replaceChildren(...rectangles);
  }

  function say(explorer, text, spoken) {
    const canvas = explorer.querySelector(".fedlab-strip .js-plotly-plot");
    if (!canvas) return;
    const caption = part(canvas, "fedlab-caption");
    caption.setAttribute("aria-live", spoken ? "polite" : "off");
    if (caption.textContent !== text) caption.textContent = caption.title = text;
  }

  function clear(explorer) {
    explorer?.querySelector(".fedlab-veil")?.replaceChildren();
    const caption = explorer?.querySelector(".fedlab-caption");
    if (caption) caption.textContent = caption.title = "";
  }

  function part(canvas, look) {
    const drawing = canvas.parentElement;
    const found = drawing.querySelector(`.${look}`);
    if (found) return found;
    const made = Object.assign(document.createElement("div"), { className: look });
    drawing.append(made);
    return made;
  }
})();
