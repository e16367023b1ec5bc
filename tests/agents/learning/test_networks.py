"""Networks by name: what they give, what decides a move's logit, and what is refused."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.learning import networks
from agents.learning.inputs import GAINS, Inputs, View
from agents.learning.networks import Architecture, NetworkError, network
from crush_gym.swaps import number_of_actions, swaps_of


@pytest.mark.parametrize(
    "name", ["edge", "resnet:blocks=1", "resnet:blocks=1,head=gap", "king:layers=2", "mlp:width=8"]
)
def test_gives_a_logit_for_each_action_and_a_value(name: str) -> None:
    made, x = network(name), jnp.ones((3, 5, 4, 6))
    logits, value = made.apply(made.init(jax.random.key(0), x), x)
    assert logits.shape == (3, number_of_actions((5, 4))) and value.shape == (3,)


def test_without_convolutions_an_edges_logit_depends_on_its_two_cells_alone() -> None:
    made = network("edge:layers=0")
    x = jax.random.normal(jax.random.key(0), (1, 4, 5, 3))
    weights = made.init(jax.random.key(1), x)
    row, column = 2, 3
    other = x.at[0, row, column].add(1.0)
    changed = np.asarray(made.apply(weights, x)[0] != made.apply(weights, other)[0])[0]
    swaps = swaps_of(np.arange(number_of_actions((4, 5))), (4, 5))
    second = swaps.rows + swaps.down, swaps.columns + (1 - swaps.down)
    touches = ((swaps.rows == row) & (swaps.columns == column)) | ((second[0] == row) & (second[1] == column))
    assert (changed == touches).all()


def test_a_linear_networks_logit_is_a_weighted_sum_of_what_its_own_swap_brings() -> None:
    gains = jax.random.normal(jax.random.key(0), (2, number_of_actions((4, 5)), len(GAINS)), jnp.float16)
    cells = Inputs((), preview=True).cells(View(jnp.zeros((2, 4, 5, 0), jnp.uint8), gains))
    made = network("linear")
    weights = made.init(jax.random.key(1), cells)
    assert (np.asarray(made.apply(weights, cells)[0]) == 0).all()  # all moves are alike before it learned
    each = jnp.arange(1.0, len(GAINS) + 1)
    weights["params"]["swap"]["kernel"] = each[:, None]
    np.testing.assert_allclose(made.apply(weights, cells)[0], gains.astype(jnp.float32) @ each, rtol=1e-5, atol=1e-5)
    assert Architecture.parse("linear").any_size and not Architecture.parse("linear").sees_planes


@pytest.mark.parametrize("name", ["edge:layers=0", "resnet:blocks=0,filters=2"])
def test_with_foresight_a_swap_is_likelier_by_its_share_of_the_most_that_any_brings(name: str) -> None:
    rng = np.random.default_rng(0)
    gains = np.abs(rng.normal(size=(2, number_of_actions((4, 5)), len(GAINS)))).astype(np.float16)
    gains[1, :, GAINS.index("goals")] = 0  # no swap does anything for the goals of this board
    cells = Inputs((), preview=True).cells(View(jnp.zeros((2, 4, 5, 0), jnp.uint8), jnp.asarray(gains)))
    plain, made = network(name), network(f"{name},foresight=3")
    weights = made.init(jax.random.key(0), cells)
    own = weights["params"].pop("foresight")
    without = np.asarray(plain.apply(weights, cells)[0])
    weights["params"]["foresight"] = own
    points, goals = (gains[..., GAINS.index(name)].astype(float) for name in ("score", "goals"))
    expected = 3 * points / points.max(axis=1, keepdims=True)
    expected[0] += 6 * goals[0] / goals[0].max()
    np.testing.assert_allclose(made.apply(weights, cells)[0] - without, expected, rtol=1e-4, atol=1e-4)
    assert Architecture.parse(f"{name},foresight=3").needs_previews and not Architecture.parse(name).needs_previews


def test_an_edge_network_plays_boards_of_other_sizes() -> None:
    made = network("edge:layers=1,filters=4")
    weights = made.init(jax.random.key(0), jnp.ones((1, 5, 5, 3)))
    assert made.apply(weights, jnp.ones((2, 9, 7, 3)))[0].shape == (2, number_of_actions((9, 7)))
    assert Architecture.parse("edge").any_size and Architecture.parse("resnet").any_size
    assert not Architecture.parse("king").any_size and not Architecture.parse("resnet:head=gap").any_size


def test_king_is_the_network_of_the_paper() -> None:
    x = jnp.ones((1, 9, 9, 102))
    weights = network("king").init(jax.random.key(0), x)["params"]
    kernels = [weights[name]["kernel"].shape for name in (*(f"conv{n}" for n in range(11)), "last")]
    assert kernels == [(3, 3, 102, 35), *[(3, 3, 35, 35)] * 10, (3, 3, 35, 144)]


FILTERS, SEEN = 35, 102
CONV = 9 * FILTERS * FILTERS + FILTERS
FIRST = 9 * SEEN * FILTERS + FILTERS
VALUE = 2 * FILTERS * 64 + 64 + 64 + 1
GAP = 9 * FILTERS * 144 + 144


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("king", FIRST + 10 * CONV + GAP + VALUE),
        ("king:activation=relu", FIRST + 10 * CONV + GAP + VALUE),
        ("king:activation=relu,head=fc", FIRST + 11 * CONV + 81 * FILTERS * 256 + 256 + 256 * 144 + 144 + VALUE),
        ("resnet:blocks=20,filters=35,activation=elu,head=gap", FIRST + 40 * CONV + GAP + VALUE),
    ],
)
def test_the_networks_of_table_one_have_so_many_weights(name: str, weights: int) -> None:
    found = jax.eval_shape(network(name).init, jax.random.key(0), jnp.ones((1, 9, 9, SEEN)))
    assert sum(x.size for x in jax.tree.leaves(found)) == weights


@pytest.mark.parametrize("activation", ["elu", "relu"])
def test_kings_logits_are_means_of_planes_of_convolutions(activation: str) -> None:
    made, x = (
        network(f"king:layers=2,filters=3,activation={activation}"),
        np.random.default_rng(0).normal(size=(4, 3, 2)),
    )
    weights = made.init(jax.random.key(1), jnp.asarray(x[None], jnp.float32))
    layers = [weights["params"][name] for name in ("conv0", "last")]

    def convolved(y: np.ndarray, layer: dict) -> np.ndarray:
        padded = np.pad(y, ((1, 1), (1, 1), (0, 0)))
        places = [
            [np.einsum("ijc,ijcd->d", padded[r : r + 3, c : c + 3], layer["kernel"]) for c in range(3)]
            for r in range(4)
        ]
        return np.array(places) + layer["bias"]

    inner = convolved(x, layers[0])
    inner = np.where(inner > 0, inner, np.expm1(inner) if activation == "elu" else 0.0)
    expected = convolved(inner, layers[1]).mean(axis=(0, 1))
    found = made.apply(weights, jnp.asarray(x[None], jnp.float32))[0][0]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_units_are_dropped_only_where_a_network_learns() -> None:
    made, x = network("king:layers=1,filters=4,head=fc,hidden=16"), jnp.ones((2, 5, 5, 3))
    weights = made.init(jax.random.key(0), x)
    calm = networks.answer(made, weights, x)[0]
    assert (calm == networks.answer(made, weights, x)[0]).all()
    dropped = [networks.answer(made, weights, x, dropout=jax.random.key(n))[0] for n in range(2)]
    assert not np.allclose(dropped[0], dropped[1]) and not np.allclose(calm, dropped[0])


@pytest.mark.parametrize("name", ["edge:layers=1", "resnet:blocks=1", "king:layers=2", "mlp:width=8"])
def test_traits_change_nothing_before_they_are_learned_and_then_they_do(name: str) -> None:
    made, x = network(name), jax.random.normal(jax.random.key(2), (3, 5, 4, 6))
    traits = jnp.asarray([[1.0, 0.0], [0.0, 0.0], [-1.0, 2.0]])
    weights = made.init(jax.random.key(0), x, traits)
    plain = {"params": {name: value for name, value in weights["params"].items() if "film" not in name}}
    np.testing.assert_allclose(made.apply(weights, x, traits)[0], made.apply(plain, x)[0], rtol=1e-5)
    moved = jax.tree.map(lambda w: w + 0.1, weights)
    found = [made.apply(moved, x, t)[0] for t in (traits, jnp.zeros_like(traits))]
    differs = np.abs(found[0] - found[1]).max(axis=1) > 1e-6
    assert differs.tolist() == [True, False, True]


def test_normalised_layers_give_each_cell_mean_0_and_variance_1() -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(3.0, 5.0, (2, 5, 5, 3)))
    made = network("edge:layers=1,norm=True")
    weights = made.init(jax.random.key(0), x)
    _, seen = made.apply(weights, x, capture_intermediates=True)
    (found,) = seen["intermediates"]["norm0"]["__call__"]
    np.testing.assert_allclose(found.mean(axis=-1), 0, atol=1e-4)
    np.testing.assert_allclose(found.var(axis=-1), 1, atol=1e-3)
    assert not any("norm" in name for name in network("edge").init(jax.random.key(0), x)["params"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("edg", "did you mean 'edge'"),
        ("edge:layer=3", "no argument 'layer'; there are filters, layers, hidden"),
        ("edge:layers=many", "layers must be int, not 'many'"),
        ("edge:layers", "expected argument=value, found 'layers'"),
        ("edge:norm=yes", "norm must be True or False, not 'yes'"),
        ("edge:filters=-4", "from 0 to 4096"),
        ("resnet:head=tail", "head must be one of edge, gap, fc"),
    ],
)
def test_refuses_what_there_is_not(text: str, said: str) -> None:
    with pytest.raises(NetworkError, match=said):
        network(text)


def test_a_network_of_ones_own_gets_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(nn.Module):
        width: int = 4

        @nn.compact
        def __call__(self, x):
            return nn.Dense(number_of_actions(x.shape[1:3]))(x.reshape(len(x), -1)), x.mean(axis=(1, 2, 3))

    monkeypatch.setattr(networks, "NETWORKS", dict(networks.NETWORKS))
    networks.register("plain", Plain)
    assert network("plain:width=7").width == 7
    with pytest.raises(NetworkError, match="already"):
        networks.register("edge", Plain)
