from vit_str.pages.style import figure, styled
from studies.heads import HEADS, _findings, judge, network, permutation_error
from studies.study import Verdict


def test_no_number_of_heads_knows_positions():
    for heads in HEADS:
        assert permutation_error(heads, 0, positions=False) < 1e-13
        assert permutation_error(heads, 0, positions=True) > 0.01


def test_the_error_is_that_of_the_seed():
    assert permutation_error(2, 1, positions=True) == permutation_error(2, 1, positions=True)
    assert permutation_error(2, 1, positions=True) != permutation_error(2, 2, positions=True)


def test_parameters_are_equal_at_every_number_of_heads():
    sizes = {sum(p.numel() for p in network(2, heads, 0).parameters()) for heads in HEADS}
    assert len(sizes) == 1


def test_verdicts():
    gain, none = [0.3, 0.31, 0.29], [0.1, -0.1, 0.0]
    assert judge(gain, [1e-15]) is Verdict.PARTLY
    assert judge(gain, [0.1]) is Verdict.SUPPORTED
    assert judge(none, [1e-15]) is Verdict.NOT_SUPPORTED
    assert judge(none, [0.1]) is Verdict.PARTLY


def test_one_table_and_a_figure():
    plan = [(2, heads) for heads in HEADS] + [(1, 1), (1, 8)]
    runs = [{key: [0.5, last] for key in plan} for last in (0.97, 0.8)]
    places = [(heads, known) for heads in HEADS for known in (False, True)]
    findings = _findings(runs, {place: [1e-15, float(place[1])] for place in places}, 20)
    assert findings.summary[1]["steps to 95%"] == "40 [40, 40] in 1/2"
    assert len({tuple(row) for row in findings.rows}) == 1
    assert len({tuple(row) for row in findings.summary}) == 1
    with styled():
        sheet = figure(7.5, 3)
        findings.draw(sheet)
        sheet.canvas.draw()
