"""Speed of the playground in Chromium: ``python benchmarks/playground.py``.

Rounds a second without drawing and while the page draws, frames a second, and the longest time in
which the page could not answer. Digits: 100 clients, K = 10, E = 5, MLP 64-32-10. Plane: 10
clients.
"""

import json
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from fedlab_course import playground

DIGITS = "data=digits&split=dirichlet&clients=100&cohort=10&hidden=32&two=0&a.lr=0.05"
PLANE = "data=blobs&clients=10&cohort=10&two=0"
SECONDS = 10
ALONE = """([text, rounds]) => {
    const state = parse(text).state;
    const data = decoded(CATALOGUE.sets[state.data]);
    const [options] = optionsOf(state);
    const run = new Run(data, split(data.train.y, state), options);
    const begin = performance.now();
    for (const record of run.rounds()) if (record?.round === rounds) break;
    return (1000 * rounds) / (performance.now() - begin);
}"""
WATCH = """() => {
    window.longest = 0;
    window.frames = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((one) => {
        window.longest = Math.max(window.longest, one.duration);
    })).observe({ type: "longtask" });
    const count = () => { window.frames += 1; requestAnimationFrame(count); };
    requestAnimationFrame(count);
}"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder, "playground.html")
        path.write_text(playground.html(), encoding="utf-8")
        executable = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        measured = {}
        for name, state in {"digits": DIGITS, "plane": PLANE}.items():
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.goto(f"{path.as_uri()}#{state}")
            alone = page.evaluate(ALONE, [state, 300])
            page.select_option("#speed", "fast")
            page.evaluate(WATCH)
            page.click("#play")
            page.wait_for_timeout(1000 * SECONDS)
            rounds, frames, longest = page.evaluate(
                "[sides[0].records.length - 1, window.frames, window.longest]"
            )
            measured[name] = {
                "rounds_a_second_alone": round(alone, 1),
                "rounds_in_the_page": rounds,
                "seconds": SECONDS,
                "frames_a_second": round(frames / SECONDS, 1),
                "longest_task_ms": round(longest),
            }
            page.close()
        browser.close()
    print(json.dumps(measured, indent=1))


if __name__ == "__main__":
    main()
