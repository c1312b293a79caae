// Numbers of the runs under way: asked for every few seconds while the page is seen, put in their places as text.
const EVERY_MS = 3000;
const MOST_MS = 60000;
const live = document.getElementById('live');
const trouble = document.getElementById('trouble');
let wait = EVERY_MS;
let timer = 0;

function later() {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(ask, wait);
}

async function ask() {
  try {
    const reply = await fetch('/runs/progress', { headers: { 'x-proctor-form': 'none' }, redirect: 'error' });
    if (reply.status === 401 || reply.status === 403) { tell(live.dataset.signedOut); return; }
    if (!reply.ok) throw new Error(String(reply.status));
    show((await reply.json()).runs);
    trouble.hidden = true;
    wait = EVERY_MS;
  } catch {
    tell(live.dataset.stale);
    wait = Math.min(2 * wait, MOST_MS);
  }
  later();
}

// A run or a candidate more or less is another page.
function show(runs) {
  if (listPlaces(runs) !== listShown()) { location.reload(); return; }
  for (const run of runs) {
    const section = live.querySelector(`[data-run="${CSS.escape(run.run_id)}"]`);
    fill(section.querySelector('.figures'), { ...run.whole, updated_at: run.updated_at });
    for (const one of run.candidates) fill(section.querySelector(`[data-candidate="${CSS.escape(one.model)}"]`), one);
  }
}

function fill(place, values) {
  for (const node of place.querySelectorAll('[data-field]')) {
    const value = values[node.dataset.field];
    if (node.tagName === 'PROGRESS') { node.max = values.total; node.value = value; } else if (node.textContent !== String(value)) node.textContent = value;
  }
}

function listPlaces(runs) { return JSON.stringify(runs.map((run) => [run.run_id, run.candidates.map((one) => one.model)])); }

function listShown() {
  const sections = [...live.querySelectorAll('[data-run]')];
  return JSON.stringify(sections.map((one) => [one.dataset.run, [...one.querySelectorAll('[data-candidate]')].map((row) => row.dataset.candidate)]));
}

function tell(text) {
  trouble.textContent = text;
  trouble.hidden = false;
}

document.addEventListener('visibilitychange', () => { if (document.hidden) clearTimeout(timer); else ask(); });
later();
