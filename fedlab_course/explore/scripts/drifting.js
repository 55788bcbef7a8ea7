"use strict";

// Client drift in the plane: FedAvg, FedProx and SCAFFOLD on the same two quadratics, one local step after another.
// `rounds` is the arithmetic of fedlab_core/algorithms, against which a test holds it: SCAFFOLD is option 2 of
// scaffold.py. A moment counts local steps, and one more for each average: the start is 0.
(() => {
  const SIZE = 200; // of a picture, in its own units
  const DOT = 120; // milliseconds for a local step, and REST for an average
  const REST = 700;
  const SHAPES = ["M-6 -6H6V6H-6Z", "M0 -7 7 6H-7Z"];
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const AXES = [0, 1];
  const mean = (points) => AXES.map((d) => points.reduce((sum, point) => sum + point[d], 0) / points.length);
  const clamp = (value, reach) => Math.min(Math.max(value, -reach), reach);
  const say = (point) => `(${point.map((value) => value.toFixed(2).replace("-", "−")).join(", ")})`;

  // For each round: w, the walks of the clients, and the mean of their ends.
  function rounds(method, { a, b, start, rounds: count }, { τ, η, μ }) {
    let w = start;
    let controls = b.map(() => [0, 0]);
    return Array.from({ length: count }, () => {
      const c = mean(controls);
      const begin = w;
      const offset = (k, d, y) => {
        if (method === "FedProx") return μ * (y - begin[d]);
        return method === "SCAFFOLD" ? c[d] - controls[k][d] : 0;
      };
      const walks = b.map((minimum, k) => {
        const walk = [begin];
        for (let step = 0; step < τ; step += 1) {
          const y = walk.at(-1);
          walk.push(AXES.map((d) => y[d] - η * (a[k][d] * (y[d] - minimum[d]) + offset(k, d, y[d]))));
        }
        return walk;
      });
      controls = walks.map((walk, k) => AXES.map((d) => controls[k][d] - c[d] + (begin[d] - walk[τ][d]) / (τ * η)));
      w = mean(walks.map((walk) => walk[τ]));
      return { w: begin, walks, next: w };
    });
  }

  function element(tag, properties, place) {
    return place.appendChild(Object.assign(document.createElement(tag), properties));
  }

  function shape(tag, attributes, place) {
    const made = place.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  function bring(figure) {
    const plan = JSON.parse(figure.dataset.drift);
    const chosen = Object.fromEntries(Object.entries(plan.choices).map(([name, [, value]]) => [name, value]));
    const panels = plan.methods.map(panelOf);
    const caption = figure.querySelector(".caption");
    const place = ([x, y]) => [((x / plan.reach + 1) * SIZE) / 2, ((1 - y / plan.reach) * SIZE) / 2];
    const translate = (point) => `translate(${place(point).join(" ")})`;
    const line = (points) => points.map((point) => place(point).join(",")).join(" ");
    let runs = [];
    let moment = 0;
    let playing = 0;
    figure.dataset.ready = "yes";

    // The first picture has handles for the keyboard, which makes it a group.
    function panelOf(method, m) {
      const panel = element("div", { className: "panel" }, figure.querySelector(".panels"));
      element("p", { className: "name", textContent: method }, panel);
      const words = `${method}: contours of F, its optimum, the minima of two clients, their local steps and the path of w`;
      const svg = shape("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: m === 0 ? "group" : "img", "aria-label": words }, panel);
      shape("g", { class: "layer" }, svg);
      element("p", { className: "away" }, panel);
      return panel;
    }

    const optimum = () => {
      const sums = AXES.map((d) => plan.a.reduce((sum, a, k) => sum + a[d] * plan.b[k][d], 0));
      return AXES.map((d) => sums[d] / plan.a.reduce((sum, a) => sum + a[d], 0));
    };
    const last = () => plan.rounds * (chosen.τ + 1);

    // Which round it is, how many local steps are drawn, and where w is.
    function where(run) {
      const round = moment ? Math.floor((moment - 1) / (chosen.τ + 1)) : 0;
      const steps = moment - round * (chosen.τ + 1);
      const averaged = steps > chosen.τ;
      return { round, averaged, steps: Math.min(steps, chosen.τ), w: averaged ? run[round].next : run[round].w };
    }

    function draw() {
      const best = optimum();
      const radius = (level, d) => Math.sqrt((2 * level) / mean(plan.a)[d]);
      runs.forEach((run, m) => {
        const { round, steps, w } = where(run);
        const layer = panels[m].querySelector(".layer");
        layer.replaceChildren();
        const [cx, cy] = place(best);
        for (const level of plan.levels) {
          const [rx, ry] = AXES.map((d) => ((radius(level, d) / plan.reach) * SIZE) / 2);
          shape("ellipse", { class: "ring", cx, cy, rx, ry }, layer);
        }
        const star = "M0 -8 2 -2 8 0 2 2 0 8 -2 2 -8 0 -2 -2Z";
        shape("path", { class: "star", transform: translate(best), d: star }, layer);
        run[round].walks.forEach((walk, k) => {
          const group = shape("g", { style: `--own: ${plan.colours[k]}` }, layer);
          shape("polyline", { class: "walk", points: line(walk.slice(0, steps + 1)) }, group);
          for (const point of walk.slice(1, steps + 1)) {
            shape("path", { class: "step", transform: `${translate(point)} scale(.35)`, d: SHAPES[k] }, group);
          }
        });
        shape("polyline", { class: "way", points: line([...run.slice(0, round + 1).map((one) => one.w), w]) }, layer);
        shape("circle", { class: "dot", transform: translate(w), r: 4 }, layer);
        const away = Math.hypot(...AXES.map((d) => w[d] - best[d]));
        panels[m].querySelector(".away").textContent = `${away.toFixed(4)} from the optimum`;
        [...w, away].forEach((value, i) => (rows[m].cells[i + 1].textContent = value.toFixed(8)));
      });
      for (const handle of handles) {
        handle.node.setAttribute("transform", translate(plan.b[handle.k]));
        handle.node.setAttribute("aria-valuenow", plan.b[handle.k][0].toFixed(2));
        handle.node.setAttribute("aria-valuetext", say(plan.b[handle.k]));
      }
      tell();
    }

    function tell() {
      const { round, steps, averaged } = where(runs[0]);
      const now = averaged ? "the server averages" : `local step ${steps} of ${chosen.τ}`;
      const away = panels.map((panel, m) => `${plan.methods[m]} ${panel.querySelector(".away").textContent.split(" ")[0]}`);
      const words = `Round ${round + 1} of ${plan.rounds}, ${now}. Distance of w from the optimum: ${away.join(", ")}.`;
      caption.textContent = words;
      scrub.max = last();
      scrub.value = moment;
      scrub.setAttribute("aria-valuetext", words);
    }

    function again() {
      runs = plan.methods.map((method) => rounds(method, plan, chosen));
      draw();
    }

    function go(to) {
      moment = Math.min(Math.max(to, 0), last());
      draw();
    }

    const nextRound = () => (Math.floor(moment / (chosen.τ + 1)) + 1) * (chosen.τ + 1);

    function stop() {
      clearTimeout(playing);
      playing = 0;
      play.textContent = "Play";
    }

    // For readers who want little motion a whole round is one move.
    function advance() {
      go(still.matches ? nextRound() : moment + 1);
      const rest = still.matches || moment % (chosen.τ + 1) === 0;
      if (moment >= last()) stop();
      else playing = setTimeout(advance, rest ? REST : DOT);
    }

    function button(text, action) {
      const made = element("button", { type: "button", textContent: text }, buttons);
      made.addEventListener("click", action);
      return made;
    }

    function move(k, point) {
      plan.b[k] = point.map((value) => clamp(Number(value.toFixed(3)), 0.95 * plan.reach));
      again();
    }

    // A minimum in a picture. The first picture's is a stop of the Tab key; all follow the mouse and the finger.
    function handle(panel, k, first) {
      const svg = panel.querySelector("svg");
      const node = shape("g", { class: "handle", style: `--own: ${plan.colours[k]}` }, svg);
      shape("circle", { r: 15 }, node);
      shape("path", { class: "minimum", d: SHAPES[k] }, node);
      if (first) {
        const role = { tabindex: 0, role: "slider", "aria-label": `minimum of client ${k + 1}, arrow keys move it` };
        const range = { "aria-valuemin": -plan.reach, "aria-valuemax": plan.reach };
        for (const [name, value] of Object.entries({ ...role, ...range })) node.setAttribute(name, value);
      }
      node.addEventListener("keydown", (event) => {
        const way = ARROWS[event.key];
        if (!way) return;
        event.preventDefault();
        move(k, AXES.map((d) => plan.b[k][d] + way[d] * (event.shiftKey ? 0.5 : 0.1)));
      });
      node.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        node.setPointerCapture(event.pointerId);
        if (first) node.focus({ focusVisible: false });
      });
      node.addEventListener("pointermove", (event) => {
        if (!node.hasPointerCapture(event.pointerId)) return;
        const box = svg.getBoundingClientRect();
        const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
        move(k, [(2 * x - 1) * plan.reach, (1 - 2 * y) * plan.reach]);
      });
      return { node, k };
    }

    function choice(name, [values, value]) {
      const label = element("label", { textContent: { τ: "local steps τ", η: "learning rate η", μ: "μ of FedProx" }[name] }, controls);
      const input = element("input", { type: "range", min: 0, max: values.length - 1, value: values.indexOf(value) }, label);
      const shown = element("span", { className: "value", textContent: value }, label);
      shown.setAttribute("aria-hidden", "true");
      input.setAttribute("aria-valuetext", value);
      input.addEventListener("input", () => {
        const { round, steps, averaged } = where(runs[0]);
        chosen[name] = values[input.value];
        moment = round * (chosen.τ + 1) + (averaged ? chosen.τ + 1 : Math.min(steps, chosen.τ));
        shown.textContent = chosen[name];
        input.setAttribute("aria-valuetext", chosen[name]);
        again();
      });
    }

    const handles = panels.flatMap((panel, m) => plan.b.map((_, k) => handle(panel, k, m === 0)));
    const controls = element("div", { className: "controls" }, figure);
    const buttons = element("div", { className: "buttons" }, controls);
    const play = button("Play", () => {
      if (playing) return stop();
      if (moment >= last()) go(0);
      play.textContent = "Pause";
      playing = setTimeout(advance, 0);
    });
    button("Next step", () => (stop(), go(moment >= last() ? 0 : moment + 1)));
    button("Next round", () => (stop(), go(moment >= last() ? 0 : nextRound())));
    const scrub = element("input", { type: "range", min: 0, step: 1 }, element("label", { textContent: "moment" }, buttons));
    scrub.addEventListener("input", () => (stop(), go(Number(scrub.value))));
    Object.entries(plan.choices).forEach(([name, about]) => choice(name, about));
    const numbers = element("details", {}, figure);
    element("summary", { textContent: "Numbers" }, numbers);
    const table = element("table", {}, numbers);
    const head = table.createTHead().insertRow();
    for (const name of ["method", "w₁", "w₂", "distance"]) element("th", { textContent: name, scope: "col" }, head);
    const rows = plan.methods.map((method) => {
      const row = table.insertRow();
      element("th", { textContent: method, scope: "row" }, row);
      for (let i = 0; i < 3; i += 1) row.insertCell();
      return row;
    });
    // JupyterLab's keys are not for what has the focus here: "b" would add a cell.
    for (const stop of figure.querySelectorAll("button, input, summary, [tabindex]")) {
      stop.setAttribute("data-lm-suppress-shortcuts", "true");
    }
    again();
  }

  document.querySelectorAll(".fedlab-drift:not([data-ready])").forEach(bring);
})();
