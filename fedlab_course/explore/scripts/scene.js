"use strict";

// The scene: clients in the plane walk, and w goes to their average. Every number comes from
// fedlab_course/scene.py. Nothing moves before Play is pressed.
(() => {
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const SVG = "http://www.w3.org/2000/svg";

  // A message with its values in place of {name}.
  function fill(message, values) {
    return message.replace(/\{(\w+)\}/g, (_field, name) => values[name]);
  }

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
      play.textContent = _("Play");
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

    const play = button(_("Play"), () => {
      if (playing) return stop();
      if (moment >= last()) go(0);
      play.textContent = _("Pause");
      playing = setTimeout(advance, 0);
    });
    button(_("Next step"), () => jump(moment >= last() ? 0 : moment + 1));
    button(_("Next round"), () => jump(moment >= last() ? 0 : next(moment)));
    const scrub = slider(place, _("moment"), last(), 0, jump);
    const caption = figure.querySelector(".caption");
    return { go, moment: () => moment, controls: place.parentElement };
  }

  // A moment counts local steps, and one more for each average: the start is 0. Panels with fewer
  // steps than others take them over the same time.
  function scene(figure) {
    const SIZE = 200; // of a picture, in its own units
    const SHAPES = ["M-6 -6H6V6H-6Z", "M0 -7 7 6H-7Z"];
    const STAR = "M0 -8 2 -2 8 0 2 2 0 8 -2 2 -8 0 -2 -2Z";
    const CROSS = "M-6 -6 6 6M-6 6 6 -6";
    const plan = JSON.parse(figure.dataset.scene);
    const chosen = plan.choices.map(({ start }) => start);
    const panels = plan.panels.map(panelOf);
    const scale = SIZE / 2 / plan.reach;
    const place = ([x, y]) => [SIZE / 2 + x * scale, SIZE / 2 - y * scale];
    const translate = (point) => `translate(${place(point).join(" ")})`;
    const line = (points) => points.map((point) => place(point).join(",")).join(" ");
    const runOf = ({ runs }) => runs[chosen[0] * plan.choices[1].values.length + chosen[1]];
    const longest = () => Math.max(...plan.panels.map((panel) => runOf(panel).steps));
    const length = () => longest() + 1; // moments of a round

    function panelOf({ name }) {
      const panel = element("div", { className: "panel" }, figure.querySelector(".panels"));
      element("p", { className: "name", textContent: name }, panel);
      const label = `${name}: contours of F, the optimum, two clients with their steps, path of w`;
      const attributes = { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": label };
      const svg = shape("svg", attributes, panel);
      return { layer: shape("g", {}, svg), away: element("p", { className: "away" }, panel) };
    }

    function board(layer) {
      layer.replaceChildren();
      const [cx, cy] = place(plan.best);
      for (const [rx, ry] of plan.rings)
        shape("ellipse", { class: "ring", cx, cy, rx: rx * scale, ry: ry * scale }, layer);
      write(layer, SIZE - 4, SIZE - 5, "w₁", "end");
      write(layer, 4, SIZE / 2, "w₂", "start");
      plan.minima.forEach((minimum, k) => {
        const style = `--own: ${plan.colours[k]}`;
        const own = shape("g", { style, transform: translate(minimum) }, layer);
        shape("path", { class: "minimum", d: SHAPES[k] }, own);
        write(own, 0, k ? -10 : 17, fill(_("client {number}"), { number: k + 1 }), "middle");
      });
      shape("path", { class: "star", transform: translate(plan.best), d: STAR }, layer);
      write(layer, cx + 10, cy + 4, _("optimum"), "start");
    }

    function write(layer, x, y, words, anchor) {
      shape("text", { class: "word", x, y, "text-anchor": anchor }, layer).textContent = words;
    }

    // Draw a panel; return the distance of w from the optimum, in words.
    function drawPanel(panel, { layer, away }, round, step) {
      const { rounds, steps, cross } = runOf(panel);
      const isOver = round >= rounds.length; // it has flown off
      const now = rounds[Math.min(round, rounds.length - 1)];
      const isAverage = isOver || step > longest();
      const taken = isAverage ? steps : Math.ceil((step * steps) / longest());
      const w = isAverage ? now.next : now.walks[0][0];
      board(layer);
      if (cross) shape("path", { class: "cross", transform: translate(cross), d: CROSS }, layer);
      now.walks.forEach((walk, k) => {
        const group = shape("g", { style: `--own: ${plan.colours[k]}` }, layer);
        shape("polyline", { class: "walk", points: line(walk.slice(0, taken + 1)) }, group);
        for (const point of walk.slice(1, taken + 1))
          shape(
            "path",
            { class: "step", transform: `${translate(point)} scale(.35)`, d: SHAPES[k] },
            group,
          );
      });
      const whole = [rounds[0].walks[0][0], ...rounds.map(({ next }) => next)];
      shape("polyline", { class: "whole", points: line(whole) }, layer);
      const before = rounds.slice(0, round + 1).map(({ walks }) => walks[0][0]);
      shape("polyline", { class: "way", points: line([...before, w]) }, layer);
      shape("circle", { class: "dot", transform: translate(w), r: 4 }, layer);
      const distance = Math.hypot(w[0] - plan.best[0], w[1] - plan.best[1]);
      const isOutside = Math.max(...w.map(Math.abs)) > plan.reach;
      const words = distance < 1000 ? distance.toPrecision(3) : _("over 1000");
      away.textContent = fill(
        isOutside
          ? _("{distance} from the optimum, outside the picture")
          : _("{distance} from the optimum"),
        { distance: words },
      );
      away.title = `w = (${w.map((value) => value.toFixed(5)).join(", ")})`;
      return fill(_("{name}: {distance}"), { name: panel.name, distance: words });
    }

    function draw(moment) {
      const round = Math.max(0, Math.ceil(moment / length()) - 1);
      const step = moment - round * length();
      const away = plan.panels.map((panel, m) => drawPanel(panel, panels[m], round, step));
      const now =
        step > longest()
          ? _("Round {round} of {rounds}, the server averages.")
          : _("Round {round} of {rounds}, the clients walk.");
      const far = _("Distance of w from the optimum: {distances}.");
      return fill(_("{said} {next}"), {
        said: fill(now, { round: round + 1, rounds: plan.rounds }),
        next: fill(far, { distances: away.join(_("; ")) }),
      });
    }

    const last = () => plan.rounds * length();
    const next = (moment) => (Math.floor(moment / length()) + 1) * length();
    const rest = (moment) => {
      const pace = moment < 3 * length() ? 1 : 0.3; // the first rounds are slow
      return pace * (still.matches || moment % length() === 0 ? 700 : 900 / longest());
    };
    const show = player(figure, { last, draw, rest, next });
    plan.choices.forEach(({ label, values }, number) => {
      if (values.length === 1) return;
      const input = slider(show.controls, label, values.length - 1, chosen[number], (position) => {
        const passed = show.moment() / length(); // rounds
        chosen[number] = position;
        shown.textContent = values[position];
        input.setAttribute("aria-valuetext", values[position]);
        show.go(Math.round(passed * length()));
      });
      const value = values[chosen[number]];
      input.setAttribute("aria-valuetext", value);
      const properties = { className: "value", textContent: value };
      const shown = element("span", properties, input.parentElement);
      shown.setAttribute("aria-hidden", "true");
    });
    show.go(0);
  }

  for (const figure of document.querySelectorAll(".fedlab-scene:not([data-ready])")) {
    figure.dataset.ready = "yes";
    scene(figure);
    // JupyterLab's keys are not for the elements of a figure that have the focus: "b" would add a
    // cell.
    for (const node of figure.querySelectorAll("button, input"))
      node.setAttribute("data-lm-suppress-shortcuts", "true");
  }
})();
