// What leaves the page: its address, lines of Python, numbers and charts.

// Show `text` in a dialog, and copy it.
async function offer(text) {
  const box = find("dialog textarea");
  box.value = text;
  find("dialog").showModal();
  box.select();
  const copied = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  find("#copied").textContent = say(copied ? "copied" : "failed");
}

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }, document.body).click();
  document.body.lastChild.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// The address of what the page shows: settings, round, story, charts and speed.
function address() {
  const place = location.protocol === "about:" ? "playground.html" : location.href.split("#")[0];
  return `${place}#${format(state, shown())}`;
}

// Keep the address in the browser up to date, where the page is not part of another.
function remember() {
  if (shared) history.replaceState(null, "", `#${format(state, shown())}`);
}

function table() {
  const names = [
    "round",
    "updates",
    "up",
    "down",
    "accuracy",
    "testLoss",
    "loss",
    "drift",
    "worst",
  ];
  const rows = active().flatMap((side) =>
    side.records.map((one) => [side.name, ...names.map((name) => one[name])].join(",")),
  );
  return `side,${names.join(",")}\n${rows.join("\n")}\n`;
}

function saveCharts() {
  drawings().forEach((svg, i) => save(`playground-${i + 1}.svg`, "image/svg+xml", asFile(svg)));
}
