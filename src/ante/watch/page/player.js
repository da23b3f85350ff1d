// The player: the steps of an episode with the policy's estimates, and its video.
const player = { episode: null, steps: [], at: 0, timer: null, tab: "steps" };
const SPEEDS = { slow: 1500, normal: 800, fast: 300 };

// The steps of an episode, unpacked on demand.
async function unpack(episode) {
  const element = document.querySelector(`script[data-trace="${CSS.escape(episode.name)}"]`);
  const trace = element ? element.textContent : data.live ? await fetchTrace(episode) : null;
  if (!trace) return null;
  const bytes = Uint8Array.from(atob(trace), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function openEpisode(episode, at = 0, scroll = true) {
  stopPlaying();
  player.episode = episode;
  player.steps = (await unpack(episode)) || [];
  if (player.episode !== episode) return; // another one was opened meanwhile
  player.tab = player.steps.length || !episode.video ? "steps" : "video";
  player.at = Math.max(0, Math.min(at, player.steps.length - 1));
  buildPlayer();
  document.querySelectorAll(".episode").forEach((node) => node.classList.toggle("open", node.dataset.name === episode.name));
  if (scroll) byId("player").scrollIntoView({ block: "start" });
}

function buildPlayer() {
  const { episode, steps } = player, box = byId("player");
  box.hidden = false;
  const tabs = el("div.tabs", { role: "group", "aria-label": "View" },
    steps.length ? el("button", { type: "button", "data-tab": "steps", onclick: () => showTab("steps") }, "Step by step") : null,
    episode.video ? el("button", { type: "button", "data-tab": "video", onclick: () => showTab("video") }, "Video") : null);
  const title = el("div", {}, el("h2", {}, episode.seed), el(`b.${episode.outcome}`, {}, episode.outcome),
    el("span.soft", {}, ` in ante ${episode.ante} · ${counted(episode.blinds, "blind")} · ${counted(episode.decisions, "decision")} · return ${episode.reward.toFixed(2)} · policy of ${short(episode.steps)} decisions${episode.final ? ", closing evaluation" : ""}`));
  const close = el("button", { type: "button", onclick: closePlayer, "aria-label": "Close" }, "✕");
  box.replaceChildren(el("div.bar.head", {}, title, el("div.bar", {}, tabs, close)), el("div", { id: "view" }));
  showTab(player.tab);
}

function showTab(tab) {
  stopPlaying();
  player.tab = tab;
  document.querySelectorAll(".tabs button").forEach((node) => node.setAttribute("aria-pressed", node.dataset.tab === tab));
  const view = byId("view"), { episode, steps } = player;
  if (tab === "video") {
    view.replaceChildren(el("video", { src: episode.video, poster: episode.poster, controls: true, playsinline: true, preload: "metadata" }),
      el("p.soft", {}, "If it does not load, open the file next to this page: ", el("code", {}, decodeURI(episode.video).split("?")[0]), "."));
    return;
  }
  if (!steps.length) {
    view.replaceChildren(el("p.soft", {}, episode.trouble || "The report does not contain the steps of this episode.", " Its replay: ", el("code", {}, episode.replay)));
    return;
  }
  const slider = el("input", { type: "range", id: "slider", min: 0, max: steps.length - 1, "aria-label": "Step", oninput: (event) => { stopPlaying(); show(+event.target.value); } });
  const speed = el("select", { id: "speed", "aria-label": "Speed", onchange: () => { if (player.timer) { stopPlaying(); togglePlaying(); } } },
    ...Object.keys(SPEEDS).map((name) => el("option", { value: name, selected: name === "normal" }, name)));
  view.replaceChildren(
    el("div.stage", {}, el("div", { id: "table" }), el("div.mind", { id: "mind" })),
    el("div.bar.controls", {},
      el("button", { type: "button", onclick: () => { stopPlaying(); show(player.at - 1); }, "aria-label": "Step back" }, "◀"),
      el("button", { type: "button", id: "play", onclick: togglePlaying }, "Play"),
      el("button", { type: "button", onclick: () => { stopPlaying(); show(player.at + 1); }, "aria-label": "Step on" }, "▶"),
      slider, el("span.at.soft", { id: "at" }), speed),
    el("p.soft.keys", { style: "margin:8px 0 0;font-size:12.5px" }, el("kbd", {}, "←"), " ", el("kbd", {}, "→"), " step · ", el("kbd", {}, "space"), " play · ", el("kbd", {}, "Home"), " ", el("kbd", {}, "End")));
  show(player.at);
}

function show(at) {
  const { steps, episode } = player;
  player.at = Math.max(0, Math.min(at, steps.length - 1));
  const step = steps[player.at];
  byId("table").replaceChildren(drawTable(step));
  byId("mind").replaceChildren(...drawMind(step));
  byId("slider").value = player.at;
  byId("at").textContent = `${player.at} / ${steps.length - 1}`;
  history.replaceState(null, "", `#${encodeURIComponent(episode.name)}/${player.at}`);
}

function drawMind(step) {
  const { episode, steps } = player;
  const parts = [el("div.said", { "data-field": "said" }, step.end ? `The game is over: ${step.said}.` : pretty(step.said))];
  if (step.options) {
    parts.push(el("div", { "data-field": "options" }, el("h3", { style: "margin-bottom:6px" }, `what ${episode.who} considered`), ...step.options.map(([words, share, taken]) =>
      el(`div.option${taken ? ".taken" : ""}`, { title: words }, el("i", { style: `width:${100 * (share || 0)}%` }), el("span", {}, pretty(words)), el("b", {}, chance(share))))));
  }
  if (step.plan) parts.push(el("div.hint", {}, `plan: ${step.plan}`));
  if (step.hint) parts.push(el("div.hint", {}, `hint: ${pretty(step.hint)}`));
  if (step.search) parts.push(el("div.hint", {}, `search: ${pretty(step.search)}`));
  const values = steps.map((each) => each.value);
  if (values.some(known)) parts.push(drawCourse(values, step.value));
  if (!step.options && !step.end) parts.push(el("p.soft", {}, "No probabilities were recorded for this episode: ", el("code", {}, "ante watch RUN --player RUN"), " computes them."));
  return parts;
}

// The value over the whole episode; a click selects a step.
function drawCourse(values, now) {
  const shown = values.filter(known), low = Math.min(...shown), high = Math.max(...shown), n = values.length;
  const x = (i) => 2 + (316 * i) / Math.max(1, n - 1), y = (value) => 8 + 92 * (1 - (value - low) / (high - low || 1));
  let path = "";
  values.forEach((value, i) => { if (known(value)) path += `${path ? "L" : "M"}${x(i).toFixed(1)},${y(value).toFixed(1)}`; });
  const picture = svg("svg", { viewBox: "0 0 320 110", preserveAspectRatio: "none", role: "img", "aria-label": "value" },
    svg("path", { class: "line", d: path, style: "stroke:var(--green)" }),
    svg("line", { x1: x(player.at), x2: x(player.at), y1: 2, y2: 106, stroke: "#f0bd4e", "stroke-width": 1.5, "vector-effect": "non-scaling-stroke" }));
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    stopPlaying();
    show(Math.round(((event.clientX - box.left) / box.width) * (n - 1)));
  });
  return el("div.course", {}, el("h3", { style: "display:flex;justify-content:space-between" }, "value estimate", el("b", { "data-field": "value" }, known(now) ? now.toFixed(2) : "")), picture);
}

function togglePlaying() {
  if (player.timer) { stopPlaying(); return; }
  if (player.at >= player.steps.length - 1) show(0);
  byId("play").textContent = "Pause";
  player.timer = setInterval(() => { if (player.at >= player.steps.length - 1) stopPlaying(); else show(player.at + 1); }, SPEEDS[byId("speed").value]);
}

function stopPlaying() {
  clearInterval(player.timer);
  player.timer = null;
  if (byId("play")) byId("play").textContent = "Play";
}

function closePlayer() {
  stopPlaying();
  player.episode = null;
  byId("player").hidden = true;
  byId("player").replaceChildren();
  document.querySelectorAll(".episode.open").forEach((node) => node.classList.remove("open"));
  history.replaceState(null, "", location.pathname + location.search);
}

document.addEventListener("keydown", (event) => {
  if (!player.episode || player.tab !== "steps" || !player.steps.length || event.ctrlKey || event.metaKey || event.altKey) return;
  if (["INPUT", "SELECT", "TEXTAREA", "VIDEO"].includes(event.target.tagName) && event.target.id !== "slider") return;
  if (event.key === " " && event.target.tagName === "BUTTON") return; // presses the button
  const moves = { ArrowLeft: () => show(player.at - 1), ArrowRight: () => show(player.at + 1), Home: () => show(0), End: () => show(player.steps.length - 1) };
  if (moves[event.key]) { stopPlaying(); moves[event.key](); } else if (event.key === " ") togglePlaying(); else if (event.key === "Escape") closePlayer(); else return;
  event.preventDefault();
});
