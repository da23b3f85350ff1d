// Follows a run: requests its data at an interval and redraws what changed.
const live = { version: "", seen: {}, changed: Date.now() };
const REDRAW = {
  run: [drawHead, drawDetails], curves: [drawHead, drawTiles, drawCurves], evaluation: [drawTiles, drawEvaluation],
  published: [drawCurves], hints: [drawHints], episodes: [drawFilters, drawGallery], checkpoint: [],
};

async function follow() {
  try {
    const answer = await (await fetch(`live.json?version=${live.version}`)).json();
    if (answer.trouble) sayState(`The run cannot be read: ${answer.trouble}. The page shows the last data and tries again.`, true);
    else { if (answer.data) takeOver(answer); sayState(lately()); }
  } catch {
    sayState("The server does not respond: start ante watch --serve again. The page shows the last data and tries again.", true);
  }
  setTimeout(follow, 1000 * data.live);
}

// Replace the parts of the data that changed, and redraw each of them once.
function takeOver({ version, data: fresh }) {
  live.version = version;
  fresh.episodes.sort(videosFirst);
  const traced = new Map(data.episodes.map((each) => [each.name, each]));
  for (const each of fresh.episodes) for (const name of ["who", "trouble"]) if (traced.get(each.name)?.[name]) each[name] = traced.get(each.name)[name];
  const drawings = new Set();
  for (const [name, draws] of Object.entries(REDRAW)) {
    const { written, ...lasting } = fresh[name] || {};
    const text = JSON.stringify(name === "run" ? lasting : fresh[name]);
    if (text !== live.seen[name]) draws.forEach((each) => drawings.add(each));
    live.seen[name] = text;
    data[name] = fresh[name];
  }
  live.changed = Date.now();
  drawings.forEach((each) => each());
}

function lately() {
  const seconds = Math.round((Date.now() - live.changed) / 1000);
  const since = seconds < 3 * data.live ? "" : `, no change for ${span(seconds)}`;
  return `follows the run: update ${short(data.curves.total.iteration)}${data.checkpoint ? `, checkpoint ${data.checkpoint}` : ""}${since}`;
}

// The steps of an episode that ended after the page was sent.
async function fetchTrace(episode) {
  try {
    const found = await (await fetch(`traces/${encodeURIComponent(episode.name)}`)).json();
    if (found.trouble) episode.trouble = found.trouble;
    if (found.who) episode.who = found.who;
    return found.trace || null;
  } catch {
    return null;
  }
}
