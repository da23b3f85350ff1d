// The state at one step: score, jokers, available items, hand.
const RARITY = ["#8fa09c", "#4f96dc", "#55ae70", "#dd5a52", "#9a72cf"];
const SETS = { 1: "#9a72cf", 2: "#4c9cb8", 3: "#5a70c4" };
const SEALS = { gold: "#e0a92c", red: "#d2353f", blue: "#3f86d6", purple: "#8a5cc4" };
const KIND_TINTS = { voucher: "#ee9147", pack: "#9a72cf", joker: "#4f96dc", consumable: "#4c9cb8" };

// A playing card from its name, `AS(Glass, foil, red seal, debuffed)`; `??` is face down.
function card(name, up) {
  if (name === "??") return el(`div.card.back${up ? ".up" : ""}`, { title: "face down", "data-card": name });
  const [, front, extra] = name.match(/^([^(]*)(?:\((.*)\))?$/);
  const extras = extra ? extra.split(", ") : [];
  const stone = front === "Stone", suit = stone ? "" : front[1], rank = stone ? "" : front[0].replace("T", "10");
  const seal = extras.find((each) => each.endsWith(" seal"));
  const node = el(`div.card.${suit || "stone"}${up ? ".up" : ""}`, { title: pretty(name), "data-card": name }, rank, el("span.big", {}, SUITS[suit] || "◆"));
  const words = extras.filter((each) => each !== seal && each !== "debuffed");
  if (stone) words.unshift("Stone");
  if (words.length) node.append(el("span.extra", {}, words.join(" ")));
  if (extras.includes("debuffed")) node.classList.add("debuffed");
  if (seal) { node.classList.add("seal"); node.style.setProperty("--seal", SEALS[seal.split(" ")[0]] || "#888"); }
  return node;
}

// A joker, consumable, voucher or pack.
function thing(name, tint, { grown = "", price = null, about = "" } = {}) {
  const [, plain, extra] = name.match(/^(.*?)(?: \((.*)\))?$/);
  const more = [about, extra].filter(Boolean).join(", ");
  return el("div.thing", { style: `--tint:${tint}`, title: name, "data-name": name }, plain, more ? el("small", {}, more) : null,
    grown ? el("span.grown", {}, grown) : null, price === null ? null : el("span.price", {}, `$${price}`));
}

function ware([name, price, kind]) {
  if (kind !== "card") return thing(name, KIND_TINTS[kind] || "#888", { price, about: kind });
  return el("div", { style: "position:relative" }, card(name), price === null ? null : el("div.soft", { style: "text-align:center;font-size:11px" }, `$${price}`));
}

function drawScore(step) {
  const full = step.target > 0 && step.chips >= step.target;
  const share = step.target > 0 ? Math.min(1, step.chips / step.target) : 1;
  const cell = (label, value, more = "") => el(`div${more}`, {}, el("small", {}, label), el("b", { "data-field": label }, `${value}`));
  return el("div.score", {},
    el("div.blind", { "data-field": "blind" }, step.blind),
    step.effect ? el("div.effect", {}, step.effect) : null,
    el("div.pair", {}, el("small", {}, "at least"), el("b", { style: "color:var(--red)", "data-field": "target" }, score(step.target))),
    el("div.pair", {}, el("small", {}, "score"), el("b", { "data-field": "score" }, score(step.chips))),
    el("div.meter", {}, el(`i${full ? ".full" : ""}`, { style: `width:${100 * share}%` })),
    el("div.cells", {}, cell("hands", step.hands), cell("discards", step.discards), cell("money", `$${step.dollars}`, ".wide.money"), cell("ante", step.ante), cell("round", step.round)));
}

function drawMiddle(step) {
  if (step.end) {
    const tone = step.said === "won" ? "won" : "lost";
    return [el(`div.banner.${tone}`, {}, step.said === "won" ? "WON" : step.said === "lost" ? "GAME OVER" : "CUT OFF", el("small", {}, `in ante ${step.ante}`))];
  }
  if (step.blinds) {
    return [el("div.row", {}, step.blinds.map(([name, target, about], i) => el(`div.panel${i === step.deck0 ? ".now" : i < step.deck0 ? ".done" : ""}`, {},
      name, el("b", {}, score(target)), el("small.soft", {}, about))))];
  }
  if (step.row) {
    return [el("div.row.ware", { "data-field": "row" }, step.row.length ? step.row.map(ware) : el("span.soft", {}, "sold out")),
      el("div.row.ware", {}, [...step.vouchers, ...step.packs].map(ware)), el("div.made", {}, `shop · reroll $${step.reroll}`)];
  }
  if (step.pack) return [el("div.made", {}, `${step.open}, take ${step.take}`), el("div.row", { "data-field": "pack" }, step.pack.map(([name, kind]) => ware([name, null, kind])))];
  if (step.payout !== undefined) return [el("div.banner", { style: "color:var(--gold)" }, `$${step.payout}`, el("small", {}, "to cash out"))];
  return [];
}

function drawMade(step) {
  if (!step.made) return null;
  const [name, level, chips, mult, total] = step.made;
  const round = (x) => (x < 1e6 ? `${+x.toFixed(2)}` : score(x));
  return el("div.made", {}, `${name}, level ${level}: `, el("b.chips", {}, round(chips)), " × ", el("b.mult", {}, round(mult)), ` = ${score(total)}`);
}

function drawTable(step) {
  const jokers = step.jokers.map(([name, grown, rarity]) => thing(name, RARITY[rarity] || RARITY[0], { grown }));
  const held = step.consumables.map(([name, set]) => thing(name, SETS[set] || "#888"));
  const acted = new Set(step.cards || []);
  return el("div.felt", {}, drawScore(step), el("div.board", {},
    el("div.shelf", {}, el("div.tray", { "data-about": step.hidden ? "jokers, face down" : "jokers", "data-field": "jokers" }, jokers),
      el("div.tray.small", { "data-about": "consumables", "data-field": "consumables" }, held)),
    el("div.middle", {}, drawMade(step), ...drawMiddle(step)),
    step.hand ? el("div.row.hand", { "data-field": "hand", "data-about": `${step.deck} to draw` }, step.hand.map((name, i) => card(name, acted.has(i)))) : null));
}
