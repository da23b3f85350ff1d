// The head of the page, the tiles, the evaluation blind by blind, settings and machine.
function drawHead() {
  const { name, config, written } = data.run;
  const { games = {}, policy = {}, algo = {} } = config;
  const game = games.challenge ? `challenge ${games.challenge}` : `${games.deck}, stake ${games.stake}`;
  byId("head").replaceChildren(
    el("h1", {}, name),
    el("div.soft", {}, `${game} · ${policy.kind} policy · ${algo.kind} · ${short(data.curves.total.steps)} decisions · written ${written}`),
  );
}

function tile(label, value, more) {
  return el("div.tile", {}, el("span", {}, label), el("b", {}, value), el("i", {}, more || ""));
}

function drawTiles() {
  const total = data.curves.total, found = data.evaluation, tiles = [];
  if (found.games) {
    const wins = found.wins;
    tiles.push(tile("games won", percent(wins.rate, 1), `${percent(wins.low, 1)} to ${percent(wins.high, 1)} of ${found.games}`));
    tiles.push(tile("blinds beaten", found.mean_blinds.toFixed(2), known(found.mean_blinds_half_width) ? `± ${found.mean_blinds_half_width.toFixed(2)}` : ""));
    tiles.push(tile("ante reached", found.mean_ante.toFixed(2), known(found.mean_ante_half_width) ? `± ${found.mean_ante_half_width.toFixed(2)}` : ""));
  }
  const speed = known(total.seconds) && total.seconds > 0 ? total.steps / total.seconds : null;
  tiles.push(tile("trained", short(total.steps), "decisions"), tile("games played", short(total.games), `${short(total.iteration)} updates`));
  tiles.push(tile("time", span(total.seconds), "sampling and learning"), tile("speed", short(speed), "decisions per second"));
  byId("tiles").replaceChildren(...tiles);
}

function drawEvaluation() {
  const rows = (data.evaluation.blinds || []).filter((row) => row.cleared.trials > 0);
  if (!rows.length) return;
  const body = rows.map((row) => {
    const { rate, low, high, trials } = row.cleared;
    const bar = el("div.rate", {}, el("i", { style: `width:${100 * rate}%` }), el("em", { style: `left:${100 * low}%;width:${100 * (high - low)}%` }));
    return el("tr", {}, el("td", {}, `${row.ante}`), el("td", {}, row.blind), el("td", {}, `${trials}`), el("td", {}, percent(rate, 1)), el("td", {}, bar));
  });
  const head = el("tr", {}, ...["ante", "blind", "played", "beaten", "with its 95 % interval"].map((name) => el("th", {}, name)));
  replaceDetails("evaluation", el("details.box", {}, el("summary", {}, `Evaluation, blind by blind: ${data.evaluation.games} games`), el("div.scroll", {}, el("table", {}, head, ...body))));
}

// Requests to the advisor, their results, and the effect of its hints.
function drawHints() {
  const { ledger, effect } = data.hints;
  if (!known(ledger.asks)) return;
  const seconds = (x) => (known(x) ? `${x.toFixed(2)} s` : "–");
  const rows = [
    ["requests", short(ledger.asks)], ["calls to a model, including retries", short(ledger.calls)],
    ["served from the cache", short(ledger.cache_hits)], ["success rate of the last requests", percent(ledger.success)],
    ["latency of a call, median and p95", `${seconds(ledger.p50)}, ${seconds(ledger.p95)}`], ["tokens", short(ledger.tokens)],
    ["circuit breaker", ["closed", "half-opened", "opened"][ledger.breaker]], ["agreement with the policy", percent(ledger.agreement)],
    ["results of requests", Object.entries(ledger.ends).map(([how, count]) => `${how} ${short(count)}`).join(", ")],
  ];
  if (known(effect.more)) {
    rows.push([`effect of following ${effect.source} in play`,
      `${effect.more >= 0 ? "+" : ""}${effect.more.toFixed(2)} ± ${effect.half_width.toFixed(2)} blinds beaten per game, ${effect.games} games on the same seeds with and without`]);
  }
  const body = rows.map(([name, value]) => el("tr", {}, el("th", {}, name), el("td", {}, value)));
  const alarm = ledger.alarm ? el("p.lost", { role: "alert" }, ledger.alarm) : null;
  replaceDetails("hints", el("details.box", { open: Boolean(ledger.alarm) }, el("summary", {}, "Hints"), alarm, el("div.scroll", {}, el("table", {}, ...body))));
}

// Replace a section's details, which stay open if they are.
function replaceDetails(id, details) {
  if (byId(id).querySelector("details")?.open) details.open = true;
  byId(id).replaceChildren(details);
}

function listed(title, entries) {
  const rows = Object.entries(entries).map(([name, value]) => el("tr", {}, el("th", {}, name), el("td", {}, value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : `${value}`)));
  return el("div.scroll", {}, el("h3", {}, title), el("table", {}, ...rows));
}

function drawDetails() {
  const { config, machine } = data.run, parts = [listed("settings", config)];
  if (Object.keys(machine).length) parts.push(listed("machine", machine));
  replaceDetails("details", el("details.box", {}, el("summary", {}, "Settings and machine"), el("div.two", {}, ...parts)));
}
