"use strict";

// An animation: client drift in the plane. Nothing moves before Play is pressed.
(() => {
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const SVG = "http://www.w3.org/2000/svg";
  const D = [0, 1]; // the two coordinates of the plane

  function element(tag, properties, place) {
    return place.appendChild(Object.assign(document.createElement(tag), properties));
  }

  function shape(tag, attributes, place) {
    const made = place.appendChild(document.createElementNS(SVG, tag));
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  // A slider below a figure, over the positions 0 to `last`.
  function slider(place, label, last, value, moved) {
    const within = element("label", { textContent: label }, place);
    const input = element("input", { type: "range", min: 0, max: last, value }, within);
    input.addEventListener("input", () => moved(Number(input.value)));
    return input;
  }

  // Buttons and a slider over the moments 0 to `last()` of a figure. `draw(moment)` returns the
  // caption, and `rest(moment)` the milliseconds until the next moment. Readers who want little
  // motion get whole rounds, `next`.
  function player(figure, { last, draw, rest, next }) {
    const place = element(
      "div",
      { className: "buttons" },
      element("div", { className: "controls" }, figure),
    );
    let moment = 0;
    let playing = 0;

    function go(to) {
      moment = Math.min(to, last());
      const words = draw(moment);
      caption.textContent = words;
      Object.assign(scrub, { max: last(), value: moment });
      scrub.setAttribute("aria-valuetext", words);
    }

    function stop() {
      clearTimeout(playing);
      playing = 0;
      play.textContent = "Play";
    }

    function advance() {
      go(still.matches ? next(moment) : moment + 1);
      if (moment >= last()) stop();
      else playing = setTimeout(advance, rest(moment));
    }

    function button(textContent, onclick) {
      return element("button", { type: "button", textContent, onclick }, place);
    }

    function jump(to) {
      stop();
      go(to);
    }

    const play = button("Play", () => {
      if (playing) return stop();
      if (moment >= last()) go(0);
      play.textContent = "Pause";
      playing = setTimeout(advance, 0);
    });
    button("Next step", () => jump(moment >= last() ? 0 : moment + 1));
    button("Next round", () => jump(moment >= last() ? 0 : next(moment)));
    const scrub = slider(place, "moment", last(), 0, jump);
    const caption = figure.querySelector(".caption");
    return { go, moment: () => moment, controls: place.parentElement };
  }

  // The rounds of FedAvg, FedProx or SCAFFOLD (option 2) on quadratics: w, the walks of the
  // clients, and the mean of their ends. A copy of fedlab_core/algorithms; a test compares the two.
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
          walk.push(D.map((d) => y[d] - η * (a[k][d] * (y[d] - minimum[d]) + offset(k, d, y[d]))));
        }
        return walk;
      });
      controls = walks.map((walk, k) =>
        D.map((d) => controls[k][d] - c[d] + (begin[d] - walk[τ][d]) / (τ * η)),
      );
      w = mean(walks.map((walk) => walk[τ]));
      return { w: begin, walks, next: w };
    });
  }

  function mean(points) {
    return D.map((d) => points.reduce((sum, point) => sum + point[d], 0) / points.length);
  }

  // Drift in the plane. A moment counts local steps, and one more for each average: the start is 0.
  function drift(figure) {
    const SIZE = 200; // of a picture, in its own units
    const SHAPES = ["M-6 -6H6V6H-6Z", "M0 -7 7 6H-7Z"];
    const STAR = "M0 -8 2 -2 8 0 2 2 0 8 -2 2 -8 0 -2 -2Z";
    const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const plan = JSON.parse(figure.dataset.drift);
    const chosen = Object.fromEntries(plan.choices.map(({ name, value }) => [name, value]));
    const panels = plan.methods.map(panelOf);
    const handles = panels.flatMap(({ svg }, m) => plan.b.map((_, k) => handle(svg, k, m === 0)));
    const place = ([x, y]) => [
      ((x / plan.reach + 1) * SIZE) / 2,
      ((1 - y / plan.reach) * SIZE) / 2,
    ];
    const translate = (point) => `translate(${place(point).join(" ")})`;
    const line = (points) => points.map((point) => place(point).join(",")).join(" ");
    const length = () => chosen.τ + 1; // moments of a round
    const compute = () => plan.methods.map((method) => rounds(method, plan, chosen));
    let runs = compute();

    // The first picture has handles for the keyboard, so its role is a group.
    function panelOf(method, m) {
      const panel = element("div", { className: "panel" }, figure.querySelector(".panels"));
      element("p", { className: "name", textContent: method }, panel);
      const label =
        `${method}: contours of F, its optimum, two minima, local steps of two clients ` +
        "and the path of w";
      const attributes = {
        viewBox: `0 0 ${SIZE} ${SIZE}`,
        role: m === 0 ? "group" : "img",
        "aria-label": label,
      };
      const svg = shape("svg", attributes, panel);
      return { svg, layer: shape("g", {}, svg), away: element("p", { className: "away" }, panel) };
    }

    function optimum() {
      const curvature = mean(plan.a);
      const pull = mean(plan.a.map((a, k) => D.map((d) => a[d] * plan.b[k][d])));
      return D.map((d) => pull[d] / curvature[d]);
    }

    function draw(moment) {
      const round = Math.max(0, Math.ceil(moment / length()) - 1);
      const step = moment - round * length();
      const isAverage = step === length();
      const steps = Math.min(step, chosen.τ);
      const best = optimum();
      runs.forEach((run, m) => {
        const { layer, away } = panels[m];
        const w = isAverage ? run[round].next : run[round].w;
        layer.replaceChildren();
        const [cx, cy] = place(best);
        for (const level of plan.levels) {
          const [rx, ry] = mean(plan.a).map(
            (a) => ((Math.sqrt((2 * level) / a) / plan.reach) * SIZE) / 2,
          );
          shape("ellipse", { class: "ring", cx, cy, rx, ry }, layer);
        }
        shape("path", { class: "star", transform: translate(best), d: STAR }, layer);
        run[round].walks.forEach((walk, k) => {
          const group = shape("g", { style: `--own: ${plan.colours[k]}` }, layer);
          shape("polyline", { class: "walk", points: line(walk.slice(0, steps + 1)) }, group);
          for (const point of walk.slice(1, steps + 1))
            shape(
              "path",
              { class: "step", transform: `${translate(point)} scale(.35)`, d: SHAPES[k] },
              group,
            );
        });
        shape(
          "polyline",
          { class: "way", points: line([...run.slice(0, round + 1).map((one) => one.w), w]) },
          layer,
        );
        shape("circle", { class: "dot", transform: translate(w), r: 4 }, layer);
        const distance = Math.hypot(...D.map((d) => w[d] - best[d]));
        away.textContent = `${distance.toFixed(4)} from the optimum`;
        away.title = `w = (${w.map((value) => value.toFixed(8)).join(", ")})`;
      });
      for (const { node, k } of handles) {
        node.setAttribute("transform", translate(plan.b[k]));
        node.setAttribute("aria-valuenow", plan.b[k][0].toFixed(2));
        const numbers = plan.b[k].map((value) => value.toFixed(2).replace("-", "−"));
        node.setAttribute("aria-valuetext", `(${numbers.join(", ")})`);
      }
      const now = isAverage ? "the server averages" : `local step ${steps} of ${chosen.τ}`;
      const away = plan.methods.map(
        (method, m) => `${method} ${panels[m].away.textContent.split(" ")[0]}`,
      );
      const distances = `Distance of w from the optimum: ${away.join(", ")}.`;
      return `Round ${round + 1} of ${plan.rounds}, ${now}. ${distances}`;
    }

    // A minimum in a picture. All follow the mouse and the finger; those of the first picture also
    // the keyboard.
    function handle(svg, k, isFirst) {
      const label = `minimum of client ${k + 1}, arrow keys move it`;
      const range = { "aria-valuemin": -plan.reach, "aria-valuemax": plan.reach };
      const keys = isFirst ? { tabindex: 0, role: "slider", "aria-label": label, ...range } : {};
      const node = shape(
        "g",
        { class: "handle", style: `--own: ${plan.colours[k]}`, ...keys },
        svg,
      );
      shape("circle", { r: 15 }, node);
      shape("path", { class: "minimum", d: SHAPES[k] }, node);
      node.addEventListener("keydown", (event) => {
        const way = ARROWS[event.key];
        if (!way) return;
        event.preventDefault();
        move(
          k,
          D.map((d) => plan.b[k][d] + way[d] * (event.shiftKey ? 0.5 : 0.1)),
        );
      });
      node.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        node.setPointerCapture(event.pointerId);
        if (isFirst) node.focus({ focusVisible: false });
      });
      node.addEventListener("pointermove", (event) => {
        if (!node.hasPointerCapture(event.pointerId)) return;
        const box = svg.getBoundingClientRect();
        const [x, y] = [
          (event.clientX - box.left) / box.width,
          (event.clientY - box.top) / box.height,
        ];
        move(k, [(2 * x - 1) * plan.reach, (1 - 2 * y) * plan.reach]);
      });
      return { node, k };
    }

    function move(k, point) {
      const edge = 0.95 * plan.reach;
      plan.b[k] = point.map((value) => Math.min(Math.max(Number(value.toFixed(3)), -edge), edge));
      runs = compute();
      show.go(show.moment());
    }

    const last = () => plan.rounds * length();
    const next = (moment) => (Math.floor(moment / length()) + 1) * length();
    const rest = (moment) => (still.matches || moment % length() === 0 ? 700 : 120);
    const show = player(figure, { last, draw, rest, next });
    for (const { name, label, values, value } of plan.choices) {
      const input = slider(
        show.controls,
        label,
        values.length - 1,
        values.indexOf(value),
        (position) => {
          const passed = show.moment() / length(); // rounds
          chosen[name] = values[position];
          shown.textContent = values[position];
          input.setAttribute("aria-valuetext", values[position]);
          runs = compute();
          show.go(Math.round(passed * length()));
        },
      );
      input.setAttribute("aria-valuetext", value);
      const shown = element(
        "span",
        { className: "value", textContent: value },
        input.parentElement,
      );
      shown.setAttribute("aria-hidden", "true");
    }
    show.go(0);
  }

  for (const figure of document.querySelectorAll(".fedlab-drift:not([data-ready])")) {
    figure.dataset.ready = "yes";
    drift(figure);
    // JupyterLab's keys are not for the elements of a figure that have the focus: "b" would add a
    // cell.
    for (const node of figure.querySelectorAll("button, input, [tabindex]"))
      node.setAttribute("data-lm-suppress-shortcuts", "true");
  }
})();
