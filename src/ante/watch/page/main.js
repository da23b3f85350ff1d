// Draws the page once; a fragment such as #NAME/12 opens an episode at a step.
function openFromAddress() {
  const [name, at] = decodeURIComponent(location.hash.slice(1)).split("/");
  const episode = data.episodes.find((each) => each.name === name);
  if (episode) openEpisode(episode, +at || 0);
}

data.episodes.sort(videosFirst);
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
if (data.live) follow();
document.documentElement.dataset.ready = Math.round(performance.now()); // ms since the page was requested
