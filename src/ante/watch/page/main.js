// Draws the page once; a fragment such as #NAME/12 opens an episode at a step.
function openFromAddress() {
  const [name, at] = decodeURIComponent(location.hash.slice(1)).split("/");
  const episode = data.episodes.find((each) => each.name === name);
  if (episode) openEpisode(episode, +at || 0);
}

// Videos first, then the newest.
data.episodes.sort((a, b) => (b.video ? 1 : 0) - (a.video ? 1 : 0));
drawHead();
drawTiles();
drawFilters();
drawGallery();
drawCurves();
drawEvaluation();
drawHints();
drawDetails();
openFromAddress();
addEventListener("hashchange", openFromAddress);
document.documentElement.dataset.ready = Math.round(performance.now()); // ms since the page was requested
