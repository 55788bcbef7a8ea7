"use strict";

// Interactive figures: sliders over the pictures stored in the page (fedlab_course/explore/grid.py).
(() => {
  function pictures({ sliders, cells, values }) {
    const parts = new Map();
    const part = (number) => {
      if (!parts.has(number)) parts.set(number, whole(values[number]));
      return parts.get(number);
    };
    function whole(value) {
      if (Array.isArray(value)) return value.map(whole);
      if (value === null || typeof value !== "object") return value;
      if ("$" in value) return part(value.$);
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, whole(one)]));
    }
    return (positions) => whole(cells[sliders.reduce((at, { options }, i) => at * options.length + positions[i], 0)]);
  }

  function addSlider(place, id, { label, options, start }, moved) {
    const name = document.createElement("label");
    const input = document.createElement("input");
    const value = document.createElement("span");
    name.textContent = label;
    name.htmlFor = input.id = id;
    value.className = "value";
    value.setAttribute("aria-hidden", "true"); // screen readers read the value of the slider itself
    Object.assign(input, { type: "range", min: 0, max: options.length - 1, step: 1, value: start });
    const tell = () => {
      value.textContent = options[input.value];
      input.setAttribute("aria-valuetext", options[input.value]);
    };
    input.addEventListener("input", () => {
      tell();
      moved();
    });
    tell();
    place.before(name, input, value);
    return input;
  }

  function connect(figure, place, number) {
    const stored = JSON.parse(place.querySelector("script").textContent);
    const picture = pictures(stored);
    const facts = place.querySelector(".facts");
    const problem = document.createElement("p");
    problem.className = "problem";
    problem.setAttribute("role", "status");
    const goal = document.createElement("p");
    goal.className = "goal";
    goal.setAttribute("role", "status");
    const tellGoal = () => {
      const at = stored.sliders.reduce((sum, { options }, i) => sum * options.length + Number(inputs[i].value), 0);
      const state = stored.goal.met ? (stored.goal.met[at] ? " ✓ Reached." : " Not yet.") : "";
      goal.textContent = `Goal: ${stored.goal.text}.${state}`;
    };
    let waiting = false;
    const draw = () => {
      waiting = false;
      const shown = picture(inputs.map((input) => Number(input.value)));
      problem.textContent = shown.error ?? "";
      if (!shown.error) window.fedlab.show(figure, shown);
      if (stored.goal) tellGoal();
    };
    const moved = () => {
      if (!waiting) requestAnimationFrame(draw);
      waiting = true;
    };
    const inputs = stored.sliders.map((slider, i) => addSlider(facts, `slider-${number}-${i}`, slider, moved));
    facts.after(problem);
    if (stored.goal) {
      facts.before(goal);
      tellGoal();
    }
    place.hidden = false;
  }

  if (!window.Plotly) return; // figures.js reports it
  document.querySelectorAll("figure.plot > .grid").forEach((place, number) => connect(place.parentElement, place, number));
})();
