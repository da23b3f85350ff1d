// The gallery: filters, and a card for each episode.
const PAGE = 48;
const WHY = { best: "best", worst: "worst", first_win: "first win", every: "sample", random: "random" };
const filters = { what: "", outcome: "", ante: "", joker: "", seed: "" };
let shown = PAGE;

function choice(name, label, values) {
  const options = [el("option", { value: "" }, "all"), ...values.map(([value, words]) => el("option", { value }, words))];
  return el("label", {}, label, el("select", { name }, ...options));
}

function drawFilters() {
  const episodes = data.episodes, distinct = (values) => [...new Set(values)];
  const antes = distinct(episodes.map((each) => each.ante)).sort((a, b) => a - b);
  const counts = new Map();
  for (const each of episodes) for (const joker of new Set(each.jokers)) counts.set(joker, (counts.get(joker) || 0) + 1);
  const jokers = [...counts].sort((a, b) => a[0].localeCompare(b[0])).map(([name, count]) => [name, `${name} (${count})`]);
  const kinds = [["video", "with video"], ["final", "closing evaluation"], ["training", "highlights of training"], ["thoughts", "with probabilities"]];
  const form = byId("filters");
  if (form.contains(document.activeElement)) return; // in use
  form.replaceChildren(
    choice("what", "show", kinds),
    choice("outcome", "outcome", distinct(episodes.map((each) => each.outcome)).sort().map((each) => [each, each])),
    choice("ante", "ante", antes.map((each) => [each, each])),
    choice("joker", "joker at the end", jokers),
    el("label", {}, "seed", el("input", { type: "search", name: "seed", placeholder: "2K9H…", autocomplete: "off" })));
  for (const [name, value] of Object.entries(filters)) form.elements[name].value = value;
}

function matches(episode) {
  const kinds = { video: () => episode.video, final: () => episode.final, training: () => episode.highlights.length, thoughts: () => episode.who };
  return (!filters.what || kinds[filters.what]()) && (!filters.outcome || episode.outcome === filters.outcome)
    && (!filters.ante || episode.ante === +filters.ante) && (!filters.joker || episode.jokers.includes(filters.joker))
    && episode.seed.includes(filters.seed.trim().toUpperCase());
}

// The progress of an episode without a poster: a mark for each of the 24 blinds.
function sketch(episode) {
  const marks = Array.from({ length: 24 }, (_, i) => el(i < episode.blinds ? "i.done" : i === episode.blinds && episode.outcome === "lost" ? "i.last" : "i"));
  return el("div.sketch", {}, el("div.path", {}, marks), el("div.names", {}, episode.jokers.join(" · ") || "no jokers"));
}

function drawCard(episode) {
  const picture = episode.poster
    ? [el("img", { src: episode.poster, alt: "", loading: "lazy", width: 480, height: 270 }), el("span.film", {}, "▶ video")] : [sketch(episode)];
  const won = episode.outcome === "won";
  return el(`button.episode${player.episode === episode ? ".open" : ""}`, { type: "button", "data-name": episode.name, onclick: () => openEpisode(episode) },
    el("span.picture", {}, picture),
    el("span.words", {},
      el("span.first", {}, el("span", {}, episode.seed), el(`span.${episode.outcome}`, {}, won ? "won" : `${episode.outcome}, ante ${episode.ante}`)),
      el("span.second", {}, el("span", {}, `${counted(episode.blinds, "blind")} · ${counted(episode.decisions, "decision")}`), el("span", { title: "training decisions of the policy" }, short(episode.steps))),
      el("span", {}, episode.final ? el("span.why.end", {}, "closing") : null, episode.why.map((each) => el("span.why", {}, WHY[each] || each)),
        episode.highlights.length ? el("span.why.end", {}, "training") : null, episode.highlights.map((each) => el("span.why", {}, each)))));
}

// Videos first, then the newest.
const videosFirst = (a, b) => (b.video ? 1 : 0) - (a.video ? 1 : 0);

function drawGallery() {
  const found = data.episodes.filter(matches);
  byId("gallery").replaceChildren(...found.slice(0, shown).map(drawCard));
  byId("count").textContent = data.episodes.length ? `${found.length} of ${data.episodes.length}` : "none yet: evaluations record episodes";
  byId("more").hidden = found.length <= shown;
}

byId("filters").addEventListener("input", (event) => { filters[event.target.name] = event.target.value; shown = PAGE; drawGallery(); });
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("more").addEventListener("click", () => { shown += PAGE; drawGallery(); });
