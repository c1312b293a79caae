// A model reads a held paper, or those that are chosen of the list: what is sent and what it costs first, then how far it is. The server finds the words.
const EVERY_MS = 2000;
const panel = document.getElementById('second');
const [model, cost, terms, send] = ['model', 'cost', 'terms', 'send'].map((name) => document.getElementById(`second-${name}`));
const state = document.getElementById('second-state');
const boxes = [...document.querySelectorAll('input[name=paper]:enabled')];
const all = document.getElementById('second-all');

if (model) {
  cost.addEventListener('click', askCost);
  send.addEventListener('click', begin);
  [model, all, ...boxes].forEach((one) => one?.addEventListener('change', forget));
  all?.addEventListener('change', () => boxes.forEach((box) => { box.checked = all.checked; }));
  if (panel.dataset.state === 'waiting') send.hidden = false;
  if (panel.dataset.state === 'waiting' || panel.hidden) setTimeout(look, EVERY_MS);
}

document.addEventListener('keydown', (event) => {
  if (!panel || panel.hidden || event.key.toLowerCase() !== 'm' || event.ctrlKey || event.metaKey || event.altKey || event.target.matches('select, input, textarea')) return;
  panel.open = true;
  (model ?? panel.querySelector('summary')).focus();
  panel.scrollIntoView({ block: 'nearest' });
  event.preventDefault();
});

// Another choice is another cost.
function forget() {
  terms.hidden = send.hidden = true;
  cost.disabled = false;
}

function choose() {
  return { model: model.value, documents: panel.dataset.document ? [panel.dataset.document] : boxes.filter((box) => box.checked).map((box) => box.value) };
}

async function askCost() {
  const chosen = choose();
  if (!chosen.documents.length) { tell(panel.dataset.choose); return; }
  const found = await call('estimate', chosen);
  if (!found || JSON.stringify(chosen) !== JSON.stringify(choose())) return;
  tell(found.message);
  send.hidden = !found.may;
  cost.disabled = !found.ready;
  if (found.ready) (found.may ? send : cost).focus();
  else setTimeout(askCost, EVERY_MS / 2);
}

async function begin() {
  send.disabled = true;
  const found = await call('second-reading', choose());
  send.disabled = false;
  if (!found) return;
  if (!state) { location.reload(); return; }
  send.hidden = terms.hidden = true;
  show(found);
  state.focus();
}

async function look() {
  const found = await call(`${panel.dataset.document}/second-reading`);
  if (found) show(found);
  else setTimeout(look, 5 * EVERY_MS);
}

function show(found) {
  state.textContent = found.message;
  state.className = found.is_good ? 'good' : 'notice';
  state.hidden = !found.message;
  panel.hidden = found.is_under_way && send.hidden;
  // Whoever read it is gone: the page then offers to begin again.
  const isGone = panel.dataset.state === 'running' && found.state === 'waiting';
  panel.dataset.state = found.state;
  if (found.is_under_way && !isGone) setTimeout(look, EVERY_MS);
  else if (!document.getElementById('content').dataset.marked) location.reload();
  else offerReload();
}

// What somebody has marked and not kept is not thrown away unasked.
function offerReload() {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = panel.dataset.show;
  button.addEventListener('click', () => location.reload());
  state.append(' ', button);
}

async function call(what, body) {
  const headers = { 'x-proctor-form': panel.dataset.formToken };
  const options = body ? { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) } : { headers };
  try {
    const reply = await fetch(`/papers/${what}`, options);
    const found = await reply.json();
    if (reply.ok) return found;
    tell(found.message ?? panel.dataset.failed);
  } catch {
    tell(panel.dataset.failed);
  }
  cost.disabled = false;
  return null;
}

function tell(text) {
  terms.textContent = text;
  terms.hidden = false;
}
