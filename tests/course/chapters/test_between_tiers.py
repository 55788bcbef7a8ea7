"""Chapter 5: what is left of a tier's label while the next tiers train."""

import numpy as np

from fedlab_course.chapters.ch05_fedmas import between_tiers


def test_what_is_kept_of_a_label_ends_with_its_next_turn() -> None:
    trained = np.array([0, 1, 2, 3, 4, 5, 0, 1, 2])
    knows = np.arange(9 * 6).reshape(9, 6) / 100
    run = between_tiers.Followed(0.5, knows, trained)
    turns = [knows[turn : turn + 6, trained[turn]] for turn in range(4)]  # later ones have no five
    np.testing.assert_allclose(between_tiers.kept(run), np.mean(turns, axis=0))
    again = run._replace(trained=np.array([0, 1, 2, 0, 4, 5, 3, 1, 2]))
    turns = [knows[turn : turn + 6, again.trained[turn]] for turn in (1, 2, 3)]
    np.testing.assert_allclose(between_tiers.kept(again), np.mean(turns, axis=0))
    assert np.isnan(between_tiers.kept(run._replace(trained=np.zeros(9, dtype=int)))).all()


def test_the_figure_of_forgetting_has_a_line_for_each_run_and_names_the_means() -> None:
    knows = np.full((6, 1), 0.5)
    run = between_tiers.Followed(0.5, knows, np.array([0, 1, 1, 1, 1, 1]))
    figure = between_tiers.forgotten({"tiers": [run, run], "FedMas": [run]})
    assert [len(trace.x) for trace in figure.data] == [6] * 5
    assert [note.text for note in figure.layout.annotations] == ["tiers", "FedMas"]
    assert figure.layout.meta["table"]["rows"][0] == ["tiers", *["50%"] * 6]
