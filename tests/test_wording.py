"""The language rules of CONTRIBUTING.md, as far as they can be counted."""

import wording


def test_prose_follows_the_language_rules() -> None:
    figures = wording.count(wording.files())
    assert figures.words > 50_000, "the prose was not found"
    listed = "\n".join(figures.lines)
    assert figures.per_thousand(figures.persons) < 0.3, listed
    assert figures.per_thousand(figures.what) < 0.3, listed
    assert figures.per_thousand(figures.examples) >= 0.5
    assert 12 <= figures.sentence_length <= 18


def test_names_are_technical_terms() -> None:
    names = [line for path in wording.files() if path.suffix != ".md" for line in wording.bad_names(path)]
    assert names == []


def test_sentences_are_counted() -> None:
    figures = wording.Figures()
    figures.add("here", "What is it? Nobody knows, for example `Error::Format`. [`Error::Format`].")
    assert (figures.sentences, figures.words, figures.persons, figures.what, figures.examples) == (
        2,
        8,
        1,
        1,
        1,
    )
