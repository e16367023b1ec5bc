"""Every numbered case of the rulebook's section 13, played by the engine and by the slow reference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from tests.adapters import Fast, Player, Slow, level_of

RIGHT_END = ((0, 2), (1, 2))
"""The vertical pair in column 2 of the first two rows."""

DRY = {"spawn_candies": False}
"""Nothing new appears, so that a whole turn is certain."""


@cache
def player(name: str) -> Player:
    return Slow() if name == "reference" else Fast()


@pytest.fixture(params=["reference", "engine"])
def game(request: pytest.FixtureRequest) -> Player:
    return player(request.param)


def rows(*lines: str) -> list[str]:
    return list(lines)


def pairs_across(row: int, columns: Sequence[int]) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    return {((row, c), (row, c + 1)) for c in columns}


def test_01_a_row_of_four_makes_a_striped_v_in_the_swapped_cell(game: Player) -> None:
    after = game.first_wave(level_of(["d e a f", "a a b a"]), RIGHT_END)
    assert after.rows == rows("d e b f", "_ _ a| _")
    assert after.score == 120


def test_02_a_column_of_four_makes_a_striped_h_in_the_swapped_cell(game: Player) -> None:
    after = game.first_wave(level_of(["a d", "a e", "b a", "a f"]), ((2, 0), (2, 1)))
    assert after.rows == rows("_ d", "_ e", "a- b", "_ f")


def test_03_five_in_a_row_make_a_colour_bomb(game: Player) -> None:
    after = game.first_wave(level_of(["d e a f g", "a a b a a"]), RIGHT_END)
    assert after.rows == rows("d e b f g", "_ _ * _ _")
    assert after.score == 200


def test_04_an_l_makes_a_wrapped_at_its_corner(game: Player) -> None:
    after = game.first_wave(level_of(["a d e", "a e d", "b a a", "a d e"]), ((2, 0), (3, 0)))
    assert after.rows == rows("_ d e", "_ e d", "a@ _ _", "b d e")
    assert after.score == 200


def test_05_five_crossed_by_three_make_one_colour_bomb_and_no_wrapped(game: Player) -> None:
    after = game.first_wave(level_of(["d e a f g", "a a b a a", "d e a g f", "e d a f g"]), RIGHT_END)
    assert after.rows == rows("d e b f g", "_ _ * _ _", "d e _ g f", "e d _ f g")
    assert after.score == 200 + 60


def test_06_four_crossed_by_three_make_a_wrapped_and_no_striped(game: Player) -> None:
    after = game.first_wave(level_of(["d e a f", "a a b a", "d e a g", "e d a f"]), RIGHT_END)
    assert after.rows == rows("d e b f", "_ _ a@ _", "d e _ g", "e d _ f")
    assert after.score == 200


def test_07_a_square_is_nothing(game: Player) -> None:
    assert ((1, 1), (2, 1)) not in game.legal(level_of(["a a", "a b", "d a"]))
    assert game.wave(level_of(["a a", "a a"])).rows == rows("a a", "a a")


def test_08_runs_on_both_sides_of_a_swap_score_in_the_first_wave(game: Player) -> None:
    assert game.first_wave(level_of(["a a b e", "b b a d"]), RIGHT_END).score == 2 * 60


def test_09_equal_plain_candies_are_no_legal_swap(game: Player) -> None:
    assert not pairs_across(0, (0, 1)) & game.legal(level_of(["a a a", "d e f"]))


def test_10_a_colour_bomb_with_a_swirl_or_an_ingredient_is_no_legal_swap(game: Player) -> None:
    assert game.legal(level_of(["~ * o", "n # d"])) == set()
    assert game.legal(level_of(["~ * o", "n b d"])) == {((0, 1), (1, 1))}


def test_11_two_specials_are_a_legal_swap_without_a_run(game: Player) -> None:
    assert game.legal(level_of(["a- b@", "d e"])) == {((0, 0), (0, 1))}


def test_12_swirls_make_no_run(game: Player) -> None:
    after = game.wave(level_of(["~ ~ ~", "d e f"]))
    assert (after.rows, after.score) == (rows("~ ~ ~", "d e f"), 0)


def test_13_a_locked_candy_of_a_run_loses_its_lock_only(game: Player) -> None:
    assert game.wave(level_of(["[a]' a' a''", "d e f"])).rows == rows("a' _ _'", "d e f")


def test_14_a_run_beside_a_lock_leaves_it(game: Player) -> None:
    assert game.wave(level_of(["a a a", "[b] d e"])).rows == rows("_ _ _", "[b] d e")


def test_15_a_ray_ends_at_a_swirl_whose_jelly_stays(game: Player) -> None:
    after = game.strike(level_of(["a-' b' ~' c'", "d e f g"]), [(0, 0)])
    assert after.rows == rows("_ _ _' c'", "d e f g")


def test_16_a_ray_crosses_a_void(game: Player) -> None:
    assert game.strike(level_of(["a- # b", "d e f"]), [(0, 0)]).rows == rows("_ # _", "d e f")


def test_17_icing_is_struck_from_beside_and_then_by_the_ray(game: Player) -> None:
    assert game.strike(level_of(["a- I3 b", "d e f"]), [(0, 0)]).rows == rows("_ I1 _", "d e f")


def test_18_a_wrapped_in_a_corner_hits_four_cells_twice_in_all(game: Player) -> None:
    once = game.strike(level_of(["a@'' b'' c", "d'' e'' f", "g a b"]), [(0, 0)])
    assert once.rows == rows("F3 _' c", "_' _' f", "g a b")
    board = level_of(["a@'' a'' b c", "d'' e'' a f"], **DRY)
    assert game.step(board, RIGHT_END).rows == rows("_ _ _ c", "_ _ b f")


def test_19_two_stripes_in_a_row_take_two_layers_of_jelly(game: Player) -> None:
    after = game.strike(level_of(["a-'' b'' a-'' c''", "d e f g"]), [(0, 0)])
    assert after.rows == rows("_ _ _ _", "d e f g")


def test_20_a_match_on_two_sides_of_icing_takes_one_layer(game: Player) -> None:
    assert game.wave(level_of(["a a a", "a I3 d", "a e f"])).rows == rows("a@ _ _", "_ I2 d", "_ e f")


def test_21_what_a_colour_bomb_clears_breaks_chocolate_beside_it_but_no_swirl(game: Player) -> None:
    assert game.strike(level_of(["* ~ b C", "# # # #"]), [(0, 0)]).rows == rows("_ ~ _ _", "# # # #")


def test_22_two_colour_bombs_hit_every_cell_once_and_set_nothing_off(game: Player) -> None:
    after = game.first_wave(level_of(["* * I3 [a] b''", "o c- d e f"]), ((0, 0), (0, 1)))
    assert after.rows == rows("_ _ I2 a _'", "o _ _ _ _")


def test_23_a_colour_bomb_and_a_striped_hit_tagged_candies_without_turning_them(game: Player) -> None:
    after = game.first_wave(level_of(["* a- b a$", "d a e f"]), ((0, 0), (0, 1)))
    assert after.rows == rows("_ _ b _", "_ _ _ _")
    assert after.drops == 1


def test_24_a_striped_used_up_in_a_row_of_four_fires_and_the_new_one_survives(game: Player) -> None:
    after = game.first_wave(level_of(["d e b f", "a a| c a", "g d a e"]), ((1, 2), (2, 2)))
    assert after.rows == rows("d _ b f", "_ _ a| _", "g _ c e")


def test_25_chocolate_removed_late_in_a_cascade_stops_the_spread(game: Player) -> None:
    board = level_of(["e f g b C", "g e f e g", "d a a C e", "c c a c d"], **DRY)
    after = game.step(board, ((3, 2), (3, 3)))
    assert after.waves == 2
    assert after.tokens[0][4] == "C" and after.count("C") == 1


def test_26_chocolate_ringed_by_icing_does_not_spread(game: Player) -> None:
    board = level_of(["C I1 d e f", "I1 g b c d", "d f a a b", "e g d f a"], **DRY)
    after = game.step(board, ((2, 4), (3, 4)))
    assert after.count("C") == 1 and after.count("I1") == 2


def test_27_chocolate_over_a_candy_bomb_pays_nothing(game: Player) -> None:
    board = level_of(["C g!9 d e f", "I1 g b c d", "d f a a b", "e g d f a"], **DRY)
    after = game.step(board, ((2, 4), (3, 4)))
    assert after.count("C") == 2 and after.count("g!8") == 0
    assert after.score == 60


def test_28_the_last_jelly_wins_although_a_bomb_is_at_1(game: Player) -> None:
    after = game.step(level_of(["a' a b", "g!1 d a"], goals={"jelly": "all"}, **DRY), RIGHT_END)
    assert (after.outcome, after.reason) == ("won", "goals")


def test_29_a_bomb_that_reaches_0_loses(game: Player) -> None:
    after = game.step(level_of(["a a b", "g!1 d a"], moves=3, **DRY), RIGHT_END)
    assert (after.outcome, after.reason, after.moves) == ("lost", "bomb", 2)


def test_30_a_bomb_keeps_its_number_in_the_move_that_spawned_it(game: Player) -> None:
    after = game.step(level_of(["a a b", "c d a"], spawn={"bomb": {"counter": 5, "quota": 1}}, **DRY), RIGHT_END)
    assert sum(token.endswith("!5") for row in after.tokens for token in row) == 1


def test_31_a_hole_under_icing_is_filled_from_the_upper_left(game: Player) -> None:
    after = game.settled(level_of(["a I1 b", "c _ d"], entries=[[0, 0]]))
    assert after.rows[1] == "c a d"
    assert after.rows[0][2:] == "I1 b" and after.rows[0][0] in "abcdefg"


def test_32_a_void_feeds_nothing_but_a_portal_does(game: Player) -> None:
    board = ["a #", "# #", "_ #"]
    assert game.settled(level_of(board, entries=[])).rows == board
    linked = level_of(board, entries=[], portals=[[[0, 0], [2, 0]]])
    assert game.settled(linked).rows == rows("_ #", "# #", "a #")


def test_33_a_ray_does_not_follow_a_portal(game: Player) -> None:
    board = level_of(["a| d", "b e", "# #", "c f"], portals=[[[1, 0], [3, 1]]])
    assert game.strike(board, [(0, 0)]).rows == rows("_ d", "_ e", "# #", "_ f")


def test_34_an_ingredient_is_collected_before_the_next_runs_are_looked_for(game: Player) -> None:
    board = ["[c] a [d]", "[d] o [c]", "[c] e b", "[a] b [a]", "[c] b [d]"]
    after = game.step(level_of(board, exits=[[4, 1]], goals={"cherry": 1, "score": 99_000}, **DRY), ((2, 1), (2, 2)))
    assert after.rows == rows("[c] _ [d]", "[d] _ [c]", "[c] _ _", "[a] e [a]", "[c] a [d]")
    assert (after.waves, after.cherries, after.score) == (1, 0, 60 + 10_000)


def test_35_a_stripe_leaves_an_ingredient_and_takes_its_jelly(game: Player) -> None:
    assert game.strike(level_of(["a| d", "o' e", "b f"]), [(0, 0)]).rows == rows("_ d", "o e", "_ f")


def test_36_a_shuffle_moves_only_free_untagged_plain_candies(game: Player) -> None:
    board = level_of(["a b c d", "e f- g a", "b!9 [c] o d", "c d e a"])
    assert game.legal(board) == set()
    after = game.start(board)
    assert after.tokens[1][1] == "f-" and after.tokens[2][:3] == ["b!9", "[c]", "o"]
    assert sorted(" ".join(after.rows)) == sorted(" ".join(board["board"]))
    assert after.rows != board["board"] and after.outcome == "playing"
    assert game.legal(level_of(after.rows))


def test_37_an_impossible_board_is_lost_as_it_was(game: Player) -> None:
    after = game.start(level_of(["a b", "b a"], colours=2))
    assert (after.outcome, after.reason, after.rows) == ("lost", "stuck", rows("a b", "b a"))


def test_38_five_seconds_never_give_more_than_there_were(game: Player) -> None:
    board = level_of(["a+ a b", "c d a"], seconds=60, **DRY)
    assert game.step(board, RIGHT_END, time=570 + 15 + 6).time == 600
    assert game.step(board, RIGHT_END, time=500).time == 500 - 15 - 6 + 50


def test_39_an_unsettled_start_clears_jelly_and_costs_no_move(game: Player) -> None:
    after = game.start(level_of(["a' a a", "b c d"], moves=5))
    assert after.moves == 5
    assert not any("'" in row for row in after.rows)
    assert after.score >= 60 + 1000


def test_40_the_same_seed_and_actions_give_the_same_board(game: Player) -> None:
    """Batches are compared in test_identical."""
    board = level_of(["a a b", "c d a"])
    assert game.step(board, RIGHT_END) == game.step(board, RIGHT_END)


def test_41_both_swapped_candies_take_part_in_runs_of_their_own(game: Player) -> None:
    after = game.first_wave(level_of(["a a b e", "b b a d"]), RIGHT_END)
    assert after.rows == rows("_ _ _ e", "_ _ _ d")


def test_42_an_ingredient_may_be_swapped_with_a_candy_that_matches(game: Player) -> None:
    assert RIGHT_END in game.legal(level_of(["a a o", "c d a"]))


# ------------------------------------------------------- corners that the numbered cases leave out


def test_a_pair_of_striped_clears_a_row_and_a_column(game: Player) -> None:
    after = game.first_wave(level_of(["d e f", "a- b| g", "e f d"]), ((1, 0), (1, 1)))
    assert after.rows == rows("d _ f", "_ _ _", "e _ d")


def test_a_striped_and_a_wrapped_clear_three_rows_and_then_three_columns(game: Player) -> None:
    board = ["d e f g d", "e f g d e", "f a- b@ e f", "g d e f g", "d e f g d"]
    after = game.first_wave(level_of(board), ((2, 1), (2, 2)))
    assert after.rows == rows("d _ _ _ d", *["_ _ _ _ _"] * 3, "d _ _ _ d")


def test_a_pair_of_wrapped_clears_five_by_five_and_leaves_fused_5(game: Player) -> None:
    board = ["d e f g d f", "e f g d e g", "f a@ b@ e f d", "g d e f g e", "d e f g d f"]
    after = game.first_wave(level_of(board), ((2, 1), (2, 2)))
    assert after.rows == rows(
        *["_ _ _ _ _ " + end for end in "fg"], "_ _ F5 _ _ d", *["_ _ _ _ _ " + end for end in "ef"]
    )


def test_a_colour_bomb_and_a_plain_candy_clear_the_colour_whatever_its_cover(game: Player) -> None:
    after = game.first_wave(level_of(["* a b", "[a] {a} a@", "d e f"]), ((0, 0), (0, 1)))
    assert after.rows == rows("_ _ _", "a _ F3", "d _ _")


def test_a_combo_names_itself_and_its_parts_in_the_orders(game: Player) -> None:
    asked = {"striped+striped": 2, "striped": 5, "a": 1, "b": 1}
    board = level_of(["d e f", "a- b| g", "e f d"], goals={"orders": asked})
    after = game.first_wave(board, ((1, 0), (1, 1)))
    assert after.orders == {"striped+striped": 1, "striped": 3, "a": 0, "b": 0}


def test_an_illegal_action_changes_nothing(game: Player) -> None:
    board = level_of(["a a b", "c d a"])
    after = game.step(board, ((0, 0), (1, 0)))
    assert after.illegal and after.rows == board["board"] and (after.moves, after.score, after.waves) == (5, 0, 0)


def test_a_score_alone_is_judged_only_at_the_end(game: Player) -> None:
    board = ["a a b", "c d a"]
    assert game.step(level_of(board, goals={"score": 60}, **DRY), RIGHT_END).outcome in ("playing", "lost")
    last = game.step(level_of(board, goals={"score": 60}, moves=1, **DRY), RIGHT_END)
    assert (last.outcome, last.reason) == ("won", "goals")


def test_no_moves_left_is_the_reason_even_if_a_bomb_reached_0(game: Player) -> None:
    after = game.step(level_of(["a a b", "g!1 d a"], moves=1, goals={"score": 9999}, **DRY), RIGHT_END)
    assert (after.outcome, after.reason, after.count("g!0")) == ("lost", "moves", 1)


def test_without_goals_an_attempt_just_ends(game: Player) -> None:
    after = game.step(level_of(["a a b", "c d a"], moves=1, **DRY), RIGHT_END)
    assert (after.outcome, after.reason) == ("ended", "moves")
