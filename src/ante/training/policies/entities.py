"""The entity policy: attention over all visible entities, then an autoregressive choice of verb, target and cards.

A decision is sampled in stages, each a softmax over the legal options: the verb, its target, then hand cards from left
to right until "stop". Every legal decision has exactly one path, so its log-probability is the sum over the stages.
"""

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import nn
from torch.nn import functional

from ante.catalog.consumables import Consumable
from ante.engine.actions import N_VERBS, Verb
from ante.engine.core.records import as_records
from ante.env.entities.ids import CONSUMABLE_BASE, JOKER_BASE, N_ITEM_IDS
from ante.env.entities.layout import ACTS, CATEGORIES, N_COUNTS, N_SCALARS, SETS, SLOTS, row_t
from ante.env.entities.rows import pack
from ante.env.games import Games
from ante.env.layout import N_EDITIONS, N_ENHANCEMENTS, N_SEALS
from ante.training.numerics.distributions import SMALLEST, entropy, log_softmax
from ante.training.policies.entity_rows import (
    AT_N_ENTITIES,
    MAX_PICKS,
    N_KINDS,
    N_NUMBERS,
    NO_ACTION,
    CardRules,
    Seen,
    acts_table,
    as_bytes,
    card_rules,
    entities_to_read,
    facts,
    kind_of_item,
    kinds_of_places,
    read_rows,
    scalar_scales,
    targets_of,
    verb_table,
)
from ante.training.policies.layers import POLICY_HEAD_GAIN, ValueHead, orthogonal
from ante.training.policies.protocol import Choice, GamePolicy
from ante.watch.notes import Note, note_of

EXPLAIN_SAMPLES = 64  # samples from which `explain` lists the most likely decisions
AURA = CONSUMABLE_BASE + int(Consumable.AURA)
MOVE_JOKER = int(Verb.MOVE_JOKER)  # a plain int for torch.compile
N_BITS = 48
GROUP = 128  # minimum number of rows in a group
MOST_GROUPS = 8
MEMORY = 16


def row_space() -> spaces.Box:
    """The Gymnasium space of one packed row, as bytes."""
    return spaces.Box(0, 255, (row_t.itemsize,), np.uint8)


def macro_space() -> spaces.Discrete[Any]:
    """The Gymnasium space of macro decisions."""
    return spaces.Discrete(1 << 46)


class EntityEncoder(nn.Module):  # type: ignore[misc]
    """Embeds entities: lookup tables for places and items, and one linear layer per kind for the numbers."""

    def __init__(self, width: int, joker_vectors: str | None) -> None:
        super().__init__()
        known = torch.from_numpy(facts())
        if joker_vectors is not None:
            known = torch.cat([known, vectors_of_items(joker_vectors)], dim=1)
        self.register_buffer("facts", known)
        self.register_buffer("kinds", torch.from_numpy(kind_of_item()), persistent=False)
        self.register_buffer("places", torch.from_numpy(kinds_of_places()), persistent=False)
        self.things = table(N_ITEM_IDS, width)
        self.place_kinds, self.slots = table(len(SLOTS), width), table(max(SLOTS), width)
        self.enhancements, self.editions, self.seals = (table(n, width) for n in (N_ENHANCEMENTS, N_EDITIONS, N_SEALS))
        self.listed_hands = table(MEMORY, width)
        self.known = nn.Linear(known.shape[1], width, bias=False)
        self.numbers = nn.Linear(N_KINDS * (1 + N_NUMBERS), width, bias=False)

    def forward(self, seen: Seen) -> torch.Tensor:
        """Return one vector per entity, (n, length, width)."""
        things = self.things + self.known(self.facts)
        places = self.place_kinds[self.places[0]] + self.slots[self.places[1]]
        traits = self.enhancements[:, None, None] + self.editions[:, None] + self.seals
        kinds = functional.one_hot(self.kinds[seen.thing], N_KINDS).float()
        numbers = functional.pad(seen.numbers, (1, 0), value=1.0)
        by_kind = (kinds[:, :, :, None] * numbers[:, :, None]).flatten(2)
        vectors = functional.embedding(seen.thing, things) + functional.embedding(seen.place, places)
        vectors = vectors + functional.embedding(seen.trait, traits.flatten(0, 2))
        return vectors + functional.embedding(seen.memory >> 4, self.listed_hands) + self.numbers(by_kind)


def vectors_of_items(digest: str) -> torch.Tensor:
    """Return the measured embeddings of this digest as a row for each item, 0 for all except jokers: (N_ITEM_IDS, k)."""
    from ante.knowledge.embeddings import DIMENSIONS, vectors_of

    found = torch.zeros(N_ITEM_IDS, DIMENSIONS)
    known = vectors_of(digest)
    if known is not None:
        found[JOKER_BASE + 1 : JOKER_BASE + 1 + len(known.vectors)] = torch.from_numpy(known.reduced(DIMENSIONS))
    return found


class TableEncoder(nn.Module):  # type: ignore[misc]
    """Embeds the global features (scalars, counts and categories) as one vector."""

    def __init__(self, width: int) -> None:
        super().__init__()
        sizes = [size for _, size in CATEGORIES]
        self.register_buffer("scales", torch.from_numpy(scalar_scales()), persistent=False)
        first = torch.tensor([sum(sizes[:i]) for i in range(len(sizes))])
        self.register_buffer("first", first, persistent=False)
        self.categories = table(sum(sizes), width)
        self.numbers = nn.Linear(2 * N_SCALARS + N_COUNTS + N_BITS, width)
        self.mix = nn.Linear(width, width)

    def forward(self, seen: Seen) -> torch.Tensor:
        """Return one vector per game, (n, width)."""
        scaled = (seen.scalars / self.scales).clamp(-3, 3)
        logs = seen.scalars.sign() * seen.scalars.abs().log1p() / 4
        numbers = self.numbers(torch.cat([scaled, logs, seen.counts.log1p(), seen.bits], dim=1))
        listed = functional.embedding(seen.categories + self.first, self.categories).sum(1)
        return functional.silu(self.mix(functional.silu(numbers + listed)))


class Attention(nn.Module):  # type: ignore[misc]
    """A transformer layer: self-attention over the entities that are present, then a feed-forward block."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.ask = nn.Linear(width, 3 * width)
        self.answer = nn.Linear(width, width)
        self.think = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        """Return the transformed entities, (n, length, width); present (n, 1, 1, length) bool."""
        n, length, width = x.shape
        projected = self.ask(self.before(x)).view(n, length, 3, self.heads, width // self.heads)
        query, key, value = projected.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=present)
        x = x + self.answer(seen.transpose(1, 2).reshape(n, length, width))
        return x + self.think(self.between(x))


class CardChooser(nn.Module):  # type: ignore[misc]
    """Selects hand cards from left to right: the cards chosen so far determine the logits of the next card or stop."""

    def __init__(self, width: int, trunk: int) -> None:
        super().__init__()
        self.begin = nn.Linear(trunk, width)
        self.verbs, self.steps = table(N_VERBS, width), table(MAX_PICKS, width)
        self.target, self.chosen = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.keys, self.query = nn.Linear(width, width), nn.Linear(width, width)
        self.stop = nn.Linear(width, 1)
        nn.init.constant_(self.stop.bias, -1.0)  # favours hands of several cards at first
        nn.init.normal_(self.query.weight, std=0.1 / width**0.5)

    def begun(self, trunk: torch.Tensor, verb: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Return the state before the first card, (n, width). target (n, width), 0 where there is none."""
        return self.begin(trunk) + self.verbs[verb] + self.target(target)

    def logits(self, begun: torch.Tensor, keys: torch.Tensor, chosen: torch.Tensor, first: int) -> torch.Tensor:
        """Return the logits of the next card, with "stop" in the last column: (n, steps, length + 1).

        chosen  (n, steps, width): sum over the cards chosen before each step
        first   index of the first of these steps
        """
        steps = self.steps[first : first + chosen.shape[1]]
        state = functional.silu(begun[:, None] + chosen + steps)
        cards = self.query(state) @ keys.transpose(1, 2) / keys.shape[2] ** 0.5
        return torch.cat([cards, self.stop(state)], dim=2)


class EntityPolicy(GamePolicy, TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Attention over entities with a value head and an autoregressive policy head. One step is one macro decision.

    Observations are packed rows (env/entities): `row_t` arrays, or their bytes as a uint8 tensor (n, row_t.itemsize).
    model_config: width (64) of an entity, layers (2), heads (4), trunk (192), and joker_vectors (None), SHA-256 of
    the embeddings that are fixed inputs for each joker.
    """

    row_t = row_t
    discrete = False
    flat = False

    @staticmethod
    def spaces() -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """Return the spaces of observations (packed rows) and actions (macro decisions)."""
        return row_space(), macro_space()

    def setup(self) -> None:
        """Build the layers from model_config."""
        options = self.model_config
        width, trunk = options.get("width", 64), options.get("trunk", 192)
        self.entities = EntityEncoder(width, options.get("joker_vectors"))
        self.table = TableEncoder(2 * width)
        self.board = nn.Linear(2 * width, width)
        self.layers = nn.ModuleList(Attention(width, options.get("heads", 4)) for _ in range(options.get("layers", 2)))
        self.out = nn.LayerNorm(width)
        self.trunk = nn.Sequential(
            nn.Linear(2 * width + width + N_KINDS * width, trunk), nn.SiLU(), nn.Linear(trunk, trunk), nn.SiLU()
        )
        self.verbs = nn.Linear(trunk, N_VERBS)
        self.target_of_trunk, self.target_of_entity = nn.Linear(trunk, width), nn.Linear(width, width, bias=False)
        self.targets = nn.Linear(width, len(ACTS))
        self.cards = CardChooser(width, trunk)
        self.value = ValueHead(trunk)
        for layer in (self.verbs, self.targets):
            orthogonal(layer, POLICY_HEAD_GAIN)
        self.register_buffer("verb_table", torch.from_numpy(verb_table()), persistent=False)
        self.register_buffer("acts", torch.from_numpy(acts_table()), persistent=False)
        self.register_buffer("sets", torch.from_numpy(SETS), persistent=False)

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write the rows of all games: out (n,) row_t, overwritten."""
        pack(games, as_records(out))

    def act(
        self,
        seen: Any,
        rng: torch.Generator | None,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
        length: int | None = None,
    ) -> Choice:
        """Sample one decision per row: actions (n,) int64, log-probabilities (n,) float32, values (n,) float32.

        rng        generator on the module's device; not used if `likeliest`
        likeliest  take the most likely verb, then its most likely target, then the most likely cards
        length     number of entities to which the lists are truncated; by default the longest list of these rows, or no
                   truncation if the rows are already on an accelerator

        Where a game is over, the action is NO_ACTION with log-probability 0.
        """
        with torch.no_grad():
            read, x, trunk = self._look(seen, length)
            draw = Draw(len(x), N_VERBS + (MAX_PICKS + 1) * (x.shape[1] + 1), x.device, None if likeliest else rng)
            verb, verb_log = draw.one(log_softmax(self.verbs(trunk), read.verbs))
            entity, target_log = draw.one(one_of(self._target_logs(read, x, trunk), self._act_of(verb)))
            has_target = self.verb_table[verb, 0] >= 0
            entity, target_log = entity * has_target, target_log * has_target
            rules = self._card_rules(read, verb, entity, has_target)
            begun = self.cards.begun(trunk, verb, one_of(x, entity) * has_target[:, None])
            cards, cards_log = self._draw_cards(begun, x, rules, draw)
            target = (one_of(read.place, entity) - self.verb_table[verb, 1]) * has_target
            playing = read.verbs.any(1)
            actions = verb | (target << 6) | (((target + 1) * (verb == MOVE_JOKER)) << 14) | (cards << 22)
            log_prob = (verb_log + target_log + cards_log) * playing
            return Choice(torch.where(playing, actions, NO_ACTION), log_prob, self._value(trunk))

    def evaluate(
        self, rows: Any, actions: Any, length: int | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return log-probabilities of these decisions, entropies and values, (n,) float32 each, with gradients.

        actions  (n,) int64, legal ones or NO_ACTION
        length   as in `act`

        The entropy is exact for verb and target; for the cards it is computed along the given decision's path. Its mean
        over sampled decisions is an unbiased estimate of the joint entropy.
        """
        seen, x, trunk = self._look(rows, length)
        actions = torch.as_tensor(actions, device=x.device)
        playing = actions >= 0
        verb = torch.where(playing, actions & 63, 0)
        target, cards = (actions >> 6) & 255, torch.where(playing, actions >> 22, 0)
        has_target = self.verb_table[verb, 0] >= 0
        wanted = self.verb_table[verb, 1] + target
        entity = ((seen.place == wanted[:, None]) & seen.present).int().argmax(1) * has_target
        verb_logs, target_logs = log_softmax(self.verbs(trunk), seen.verbs), self._target_logs(seen, x, trunk)
        verb_log = one_of(verb_logs, verb)
        target_log = one_of(one_of(target_logs, self._act_of(verb)), entity) * has_target
        rules = self._card_rules(seen, verb, entity, has_target)
        begun = self.cards.begun(trunk, verb, one_of(x, entity) * has_target[:, None])
        cards_log, cards_entropy = self._follow_cards(begun, x, rules, cards)
        acts = verb_logs.exp()[:, self.acts[:, 0]]
        found = entropy(verb_logs) + (acts * entropy(target_logs)).sum(1) + cards_entropy
        return (verb_log + target_log + cards_log) * playing, found * playing, self._value(trunk)

    def explain(
        self,
        games: Games,
        seen: Any,
        taken: int,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> tuple[Note, Any]:
        """See GamePolicy. There are too many decisions to enumerate, so the options are found by sampling."""
        rows = as_records(seen)
        generator = torch.Generator(self.device).manual_seed(0)
        drawn = self.act(rows.repeat(EXPLAIN_SAMPLES), generator).actions.cpu().numpy()
        decisions = np.unique(np.append(drawn, taken))
        with torch.inference_mode():
            logs, _, values = self.evaluate(rows.repeat(len(decisions)), decisions)
        return note_of(decisions, logs.exp().cpu().numpy(), taken, float(values[0])), None

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return the value of each observation, (n,) float32."""
        return self._value(self._look(batch[Columns.OBS], None)[2] if embeddings is None else embeddings)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        actions, log_prob, value, _ = self.act(batch[Columns.OBS], batch.get("rng"))
        return {Columns.ACTIONS: actions, Columns.ACTION_LOGP: log_prob, Columns.VF_PREDS: value}

    def _forward_train(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        log_prob, found, value = self.evaluate(batch[Columns.OBS], batch[Columns.ACTIONS])
        return {Columns.ACTION_LOGP: log_prob, "entropy": found, Columns.VF_PREDS: value}

    def _look(self, rows: Any, length: int | None) -> tuple[Seen, torch.Tensor, torch.Tensor]:
        """Return the rows as tensors, entities after attention (n, length, width), and shared features (n, trunk).

        SPEED: lists differ in length, and on a CPU padding costs as much as data. Grouping rows of similar length saves
        a fifth of the time for 1,024 rows.
        """
        data, device = as_bytes(rows), self.verbs.weight.device
        groups = min(MOST_GROUPS, len(data) // GROUP)
        if length is not None or groups < 2 or device.type != "cpu":
            length = entities_to_read(data) if length is None else length
            seen = read_rows(data.to(device, non_blocking=True), length)
            return seen, *self._attend(seen)
        order = data[:, AT_N_ENTITIES].argsort()
        seen = read_rows(data, entities_to_read(data))
        found = [self._attend(read_rows(part, entities_to_read(part))) for part in data[order].chunk(groups)]
        x = torch.cat([functional.pad(x, (0, 0, 0, seen.place.shape[1] - x.shape[1])) for x, _ in found])
        back = order.argsort()
        return seen, x[back], torch.cat([trunk for _, trunk in found])[back]

    def _attend(self, seen: Seen) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the entities after attention (n, length, width) and the shared features (n, trunk)."""
        table = self.table(seen)
        x = torch.cat([self.board(table)[:, None], self.entities(seen)], dim=1)
        present = functional.pad(seen.present, (1, 0), value=True)[:, None, None]
        for layer in self.layers:
            x = layer(x, present)
        x = self.out(x)
        groups = functional.one_hot(self.entities.kinds[seen.thing], N_KINDS) * seen.present[:, :, None]
        groups = groups.to(x.dtype).transpose(1, 2)
        means = (groups @ x[:, 1:]) / groups.sum(2, keepdim=True).clamp_min(1)
        return x[:, 1:], self.trunk(torch.cat([table.to(x.dtype), x[:, 0], means.flatten(1)], dim=1))

    def _value(self, trunk: torch.Tensor) -> torch.Tensor:
        return self.value(trunk).squeeze(-1)

    def _act_of(self, verb: torch.Tensor) -> torch.Tensor:
        """Return the verb's index in ACTS, 0 for a verb without target."""
        return self.verb_table[verb, 0].clamp_min(0)

    def _target_logs(self, seen: Seen, x: torch.Tensor, trunk: torch.Tensor) -> torch.Tensor:
        """Return the log-probability of each entity as target of each verb with targets, (n, len(ACTS), length)."""
        features = functional.silu(self.target_of_entity(x) + self.target_of_trunk(trunk)[:, None])
        return log_softmax(self.targets(features).transpose(1, 2), targets_of(seen, self.acts))

    def _card_rules(self, seen: Seen, verb: torch.Tensor, entity: torch.Tensor, has_target: torch.Tensor) -> CardRules:
        return card_rules(seen, verb, one_of(seen.thing, entity) * has_target, self.sets, AURA)

    def _draw_cards(
        self, begun: torch.Tensor, x: torch.Tensor, rules: CardRules, draw: "Draw"
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return hand positions as bits (n,) int64, and their log-probability (n,) float32."""
        n, length, _ = x.shape
        keys, vectors = self.cards.keys(x), self.cards.chosen(x)
        chosen = torch.zeros_like(begun)
        last = torch.full((n,), -1, device=x.device)
        taken, held, bits = (torch.zeros(n, dtype=torch.int64, device=x.device) for _ in range(3))
        log_prob = torch.zeros(n, device=x.device)
        going = torch.ones(n, dtype=torch.bool, device=x.device)
        for step in range(MAX_PICKS):
            logits = self.cards.logits(begun, keys, chosen[:, None], step)[:, 0]
            legal = rules.legal(last[:, None], taken[:, None], held[:, None])[:, 0]
            card, log = draw.one(log_softmax(logits, legal))
            log_prob = log_prob + log * going
            going = going & (card < length)
            card = torch.where(going, card, 0)
            chosen = chosen + one_of(vectors, card) * going[:, None]
            last = torch.where(going, card, last)
            taken = taken + going
            held = held + (one_of(rules.forced, card) & going)
            bits = bits | (going.long() << card)
        return bits, log_prob

    def _follow_cards(
        self, begun: torch.Tensor, x: torch.Tensor, rules: CardRules, cards: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the log-probability of choosing these hand positions (n,), and the entropy along the path (n,)."""
        at = torch.arange(x.shape[1], device=x.device)
        member = ((cards[:, None] >> at) & 1).bool()
        order = member.cumsum(1)
        total, step = order[:, -1:], torch.arange(MAX_PICKS, device=x.device)
        before = member[:, None] & (order[:, None] <= step[:, None])
        last = (before * (at + 1)).amax(2) - 1
        legal = rules.legal(last, torch.minimum(step, total), (before & rules.forced[:, None]).sum(2))
        vectors = self.cards.chosen(x)
        logits = self.cards.logits(begun, self.cards.keys(x), before.to(vectors.dtype) @ vectors, 0)
        logs = log_softmax(logits, legal)
        picked = (member[:, None] & (order[:, None] == step[:, None] + 1)).int().argmax(2)
        choice = torch.where(step < total, picked, x.shape[1])
        reached = step <= total
        log_prob = (logs.gather(2, choice[:, :, None])[:, :, 0] * reached).sum(1)
        return log_prob, (entropy(logs) * reached).sum(1)


class Draw:
    """Sample one of several options per row from log-probabilities; takes the most likely one without a generator."""

    def __init__(self, n: int, numbers: int, device: torch.device, rng: torch.Generator | None) -> None:
        self._noise = None
        if rng is not None:
            race = torch.empty(n, numbers, device=device).exponential_(generator=rng)
            self._noise = -race.clamp_min(SMALLEST).log()
        self._used = 0

    def one(self, logs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the sampled column (n,) int64 and its log-probability (n,) for log-probabilities (n, k)."""
        if self._noise is None:
            chosen = logs.argmax(1)
        else:
            chosen = (logs + self._noise[:, self._used : self._used + logs.shape[1]]).argmax(1)
            self._used += logs.shape[1]
        return chosen, one_of(logs, chosen)


def table(rows: int, width: int) -> nn.Parameter:
    """Return a learnable embedding table."""
    return nn.Parameter(torch.randn(rows, width) * 0.1)


def one_of(values: torch.Tensor, which: torch.Tensor) -> torch.Tensor:
    """Return the entry (n, ...) of values (n, k, ...) that `which` (n,) int64 selects in each row."""
    shape = (-1, 1, *([1] * (values.dim() - 2)))
    return values.gather(1, which.view(shape).expand(-1, 1, *values.shape[2:]))[:, 0]
