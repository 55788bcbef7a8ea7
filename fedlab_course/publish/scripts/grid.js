"use strict";

// Interactive figures: sliders over the pictures stored in the page (fedlab_course/explore/grid.py).
(() => {
  // A stored value with the parts that it shares, {"$": number}, in their places.
  function whole(value, parts) {
    if (Array.isArray(value)) return value.map((one) => whole(one, parts));
    if (value === null || typeof value !== "object") return value;
    if ("$" in value) return whole(parts[value.$], parts);
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, whole(one, parts)]));
  }

  const element = (tag, properties) => Object.assign(document.createElement(tag), properties);

  function addSlider(place, id, { label, options, start }, moved) {
    const name = element("label", { textContent: label, htmlFor: id });
    const input = element("input", { type: "range", id, min: 0, max: options.length - 1, step: 1, value: start });
    const value = element("span", { className: "value", ariaHidden: "true" }); // the slider itself says its value
    const write = () => {
      value.textContent = options[input.value];
      input.setAttribute("aria-valuetext", options[input.value]);
    };
    input.addEventListener("input", () => {
      write();
      moved();
    });
    write();
    place.before(name, input, value);
    return input;
  }

  function connect(figure, place, number) {
    const { sliders, cells, values, goal } = JSON.parse(place.querySelector("script").textContent);
    const facts = place.querySelector(".facts");
    const [aim, problem] = ["goal", "problem"].map((className) => element("p", { className, role: "status" }));
    const position = () => sliders.reduce((at, { options }, i) => at * options.length + Number(inputs[i].value), 0);
    const writeGoal = () => {
      const state = goal.met ? (goal.met[position()] ? " ✓ Reached." : " Not yet.") : "";
      aim.textContent = `Goal: ${goal.text}.${state}`;
    };
    let waiting = 0;
    const draw = () => {
      const shown = whole(cells[position()], values);
      problem.textContent = shown.error ?? "";
      if (!shown.error) window.fedlab.show(figure, shown);
      if (goal) writeGoal();
    };
    const moved = () => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(draw);
    };
    const inputs = sliders.map((slider, i) => addSlider(facts, `slider-${number}-${i}`, slider, moved));
    facts.after(problem);
    if (goal) {
      facts.before(aim);
      writeGoal();
    }
    place.hidden = false;
  }

  if (!window.Plotly) return; // figures.js reports it
  document.querySelectorAll("figure.plot > .grid").forEach((place, number) => connect(place.parentElement, place, number));
})();
