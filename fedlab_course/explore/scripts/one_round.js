"use strict";

// One federated round: a moment from 0 to 5 says where the models are and what they hold. Nothing moves by itself
// until Play is pressed, and for readers who want little motion Play goes from step to step without the way between.
(() => {
  const LAST = 5;
  const SECONDS = 2.4; // a step
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const part = (moment, from) => Math.min(Math.max(moment - from, 0), 1);
  const smooth = (share) => share * share * (3 - 2 * share);
  const between = (a, b, share) => a.map((value, i) => value + (b[i] - value) * share);

  function element(tag, properties, place) {
    return place.appendChild(Object.assign(document.createElement(tag), properties));
  }

  function fill(token, values, height) {
    token.querySelectorAll("rect").forEach((bar, i) => {
      bar.setAttribute("y", 14 - height * values[i]);
      bar.setAttribute("height", height * values[i]);
    });
  }

  function bring(figure) {
    const plan = JSON.parse(figure.dataset.round);
    const global = figure.querySelector(".global");
    const tokens = [...figure.querySelectorAll("svg > .token")];
    const captions = Array.from(figure.querySelectorAll("li"), (item) => item.textContent);
    figure.dataset.ready = "yes";

    // Steps: 0 start, 1 cohort, 2 the models are out, 3 trained, 4 back, 5 averaged.
    function draw(moment) {
      const out = smooth(part(moment, 1));
      const trained = smooth(part(moment, 2));
      const back = smooth(part(moment, 3));
      const merged = smooth(part(moment, 4));
      figure.dataset.cohort = moment >= 0.5 ? "yes" : "no";
      tokens.forEach((token, k) => {
        const home = [plan.server[0] + (k - 1) * 58 * (1 - merged), plan.server[1] + 66 * (1 - merged)];
        const there = between(plan.server, plan.places[k], out);
        const [x, y] = back > 0 ? between(plan.places[k], home, back) : there;
        token.setAttribute("transform", `translate(${x} ${y})`);
        token.style.opacity = moment <= 1 ? 0 : 1 - merged;
        fill(token, between(plan.start, plan.models[k], trained), plan.height);
      });
      fill(global, between(plan.start, plan.average, merged), plan.height);
    }

    const controls = element("div", { className: "controls" }, figure);
    const play = element("button", { type: "button", textContent: "Play" }, controls);
    const next = element("button", { type: "button", textContent: "Next step" }, controls);
    const label = element("label", { textContent: "moment" }, controls);
    const input = element("input", { type: "range", min: 0, max: LAST, step: 0.1, value: 0 }, label);
    const caption = element("p", { className: "caption" }, figure);
    figure.querySelector(".captions").remove();
    let running = 0;

    function go(moment) {
      const step = Math.min(Math.ceil(moment - 0.05), LAST);
      const words = `${step + 1} of ${captions.length}: ${captions[step]}`;
      input.value = moment;
      input.setAttribute("aria-valuetext", words);
      if (caption.textContent !== words) caption.textContent = words;
      draw(moment);
      return moment;
    }

    function stop() {
      cancelAnimationFrame(running);
      clearTimeout(running);
      running = 0;
      play.textContent = "Play";
    }

    function start() {
      let moment = Number(input.value) >= LAST ? go(0) : Number(input.value);
      let before = performance.now();
      play.textContent = "Pause";
      const jump = () => {
        moment = go(Math.min(Math.floor(moment) + 1, LAST));
        running = moment < LAST ? setTimeout(jump, 1000 * SECONDS) : (stop(), 0);
      };
      const slide = (now) => {
        // A rest of half a step at each caption, so that it can be read.
        moment = Math.min(moment + (now - before) / 1000 / SECONDS, LAST);
        before = now;
        const whole = Math.floor(moment);
        go(Math.min(whole + Math.min(2 * (moment - whole), 1), LAST));
        if (moment < LAST) running = requestAnimationFrame(slide);
        else stop();
      };
      running = still.matches ? setTimeout(jump, 0) : requestAnimationFrame(slide);
    }

    play.addEventListener("click", () => (running ? stop() : start()));
    next.addEventListener("click", () => {
      stop();
      const now = Number(input.value);
      go(now >= LAST ? 0 : Math.floor(now) + 1);
    });
    input.addEventListener("input", () => {
      stop();
      go(Number(input.value));
    });
    // JupyterLab's keys are not for what has the focus here: "b" would add a cell.
    for (const stop of [play, next, input]) stop.setAttribute("data-lm-suppress-shortcuts", "true");
    caption.setAttribute("aria-live", "off"); // the slider says it; while it plays it would chatter
    go(0);
  }

  document.querySelectorAll(".fedlab-round:not([data-ready])").forEach(bring);
})();
