"""Draw docs/convergence.png, the picture of the README: ``python tools/picture.py`` (needs Chromium and Playwright)."""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

import fedlab_core as fl

OUT = Path(__file__).resolve().parent.parent / "docs" / "convergence.png"
ALGORITHMS = {"FedAvg": fl.FedAvg(), "FedProx μ = 1": fl.FedProx(mu=1.0), "SCAFFOLD": fl.Scaffold()}


def main() -> None:
    digits = fl.load_dataset("digits")
    histories: dict[str, list[fl.History]] = {name: [] for name in ALGORITHMS}
    for seed in range(5):
        parts = fl.partition.labels_per_client(digits.train.y, num_clients=100, labels_per_client=2, seed=seed)
        fed = fl.FederatedDataset(digits, parts)
        model = fl.models.mlp(fed, seed=seed)
        for name, algorithm in ALGORITHMS.items():
            arguments = {"rounds": 50, "clients_per_round": 10, "local_epochs": 5, "batch_size": 10, "lr": 0.05}
            histories[name].append(fl.simulate(fed, model, algorithm, seed=seed, progress=False, **arguments))
    figure = fl.plots.convergence(histories, title="Handwritten digits, two labels per client")
    figure.update_layout(width=900, height=460)
    chromium = next(path for name in ("chromium", "google-chrome") if (path := shutil.which(name)))
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page(
            viewport={"width": 920, "height": 480}, device_scale_factor=1.5
        )
        page.set_content(figure.to_html(include_plotlyjs=True, full_html=True, config={"staticPlot": True}))
        page.wait_for_selector(".main-svg")
        OUT.parent.mkdir(exist_ok=True)
        page.locator(".js-plotly-plot").screenshot(path=OUT)


if __name__ == "__main__":
    main()
