// The page of one thing to be marked: a key gives the mark, and the next one is there.
import { Notice, isRepeated, parse, showState } from './card_page.js';
import { build, fillIn } from './editor.js';
import { Outbox } from './outbox.js';

const desk = document.getElementById('content');
const say = JSON.parse(desk.dataset.say);
const { user, work } = desk.dataset;
const place = document.getElementById('card');
const notice = new Notice(say);
const finished = document.getElementById('finished');
const bar = document.getElementById('progress');
const past = [];
const marked = new Map();
const fetched = new Map();
let card = null;

const outbox = new Outbox(user, desk.dataset.formToken, hear);
enter(place.querySelector('.card'));
history.replaceState({ key: card.dataset.key }, '');
outbox.send();

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-mark], [data-act]');
  if (!button || !card || button === card || isRepeated(event)) return;
  if (button.dataset.mark && button.matches('button')) give(button.dataset.mark);
  else if (button.dataset.act === 'skip') skip();
  else if (button.dataset.act === 'back') back();
});
document.addEventListener('keydown', press);
addEventListener('popstate', (event) => { if (event.state?.key) show(event.state.key, true); });

function press(event) {
  if (!card || (event.isComposing && event.key !== 'Process')) return;
  const note = card.querySelector('#note');
  if (event.target === note) {
    if (event.key === 'Escape') card.focus();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && note.dataset.mark) { event.preventDefault(); give(note.dataset.mark); }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isRepeated(event) || localStorage.getItem('proctor.keys') === 'off') return;
  const key = event.key === 'Process' ? event.code.replace(/^(Key|Digit)/, '').toLowerCase() : event.key.toLowerCase();
  const chosen = [...card.querySelectorAll('.marks button')].find((button) => button.getAttribute('aria-keyshortcuts').toLowerCase() === key);
  const act = chosen ? () => give(chosen.dataset.mark) : { s: skip, u: back, c: () => note.focus() }[key];
  if (!act) return;
  event.preventDefault();
  act();
}

// Write the mark down, go on, and let the outbox bring it to the server.
async function give(mark) {
  const { key, seen } = card.dataset;
  const note = card.querySelector('#note');
  if (card.dataset.needsNote.split(' ').includes(mark) && !note.value.trim()) {
    note.dataset.mark = mark;
    note.focus();
    return notice.tell(say.note_needed);
  }
  notice.hide();
  if (!card.dataset.mark && !marked.has(key)) { bar.value += 1; count(); }
  marked.set(key, { mark, note: note.value });
  card.dataset.mark = mark;
  press_mark(mark);
  showState(say.saving);
  outbox.add({ reference: `${work}/${key}`, path: `/marks/${work}/${key}/mark`, seen: seen || null, body: { mark, note: note.value.trim() }, label: card.querySelector('h2').textContent });
  past.push(key);
  await advance();
}

function skip() { past.push(card.dataset.key); advance(true); }

async function advance(isSkipping = false) {
  let next = card.dataset.next;
  const passed = new Set([card.dataset.key]);
  // What was marked here while the card lay ready is not shown again.
  while (next && (marked.has(next) || passed.has(next))) {
    passed.add(next);
    const text = await fetchCard(next);
    next = text ? parse(text).querySelector('.card')?.dataset.next : null;
    if (passed.has(next)) next = null;
  }
  if (next) return show(next);
  if (isSkipping) return notice.tell(say.end_of_queue);
  await outbox.send();
  card = null;
  place.hidden = true;
  finished.hidden = false;
  finished.focus();
}

function back() {
  const key = past.pop() ?? card.dataset.previous;
  if (!key) return notice.tell(say.nothing_before);
  show(key);
}

async function show(key, isBack = false) {
  const text = await fetchCard(key);
  if (text === null) return notice.tell(outbox.isSignedOut ? say.signed_out : fillIn(say.offline, { count: outbox.count }), () => show(key, isBack));
  const found = parse(text).querySelector('.card');
  if (notice.kind === 'said') notice.hide();
  if (!isBack) history.pushState({ key }, '', `/marks/${work}/${key}`);
  place.hidden = false;
  finished.hidden = true;
  place.replaceChildren(found);
  enter(found);
  card.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function enter(found) {
  card = found;
  const own = marked.get(card.dataset.key) ?? outbox.find(`${work}/${card.dataset.key}`)?.body;
  if (own) { card.dataset.mark = own.mark; card.querySelector('#note').value = own.note ?? ''; press_mark(own.mark); }
  if (card.dataset.next) fetchCard(card.dataset.next);
}

function press_mark(mark) {
  card.querySelectorAll('.marks button').forEach((button) => button.setAttribute('aria-pressed', String(button.dataset.mark === mark)));
}

function fetchCard(key) {
  if (!fetched.has(key)) {
    const coming = fetch(`/marks/${work}/${key}/card`, { headers: { 'x-proctor-form': '' } })
      .then((reply) => (reply.ok ? reply.text() : null)).catch(() => null);
    fetched.set(key, coming);
    // A card names what follows it, which changes: it is fetched again the next time.
    coming.then(() => setTimeout(() => fetched.delete(key), 20_000)).then(async () => { if ((await coming) === null) fetched.delete(key); });
  }
  return fetched.get(key);
}

// What the outbox tells of a mark; another page's decision that it took over is none of this page's business.
function hear(event) {
  if (event.kind === 'saved') {
    showState(outbox.count > 1 ? say.saving : say.saved);
    if (event.item.reference === `${work}/${card?.dataset.key}`) card.dataset.seen = event.seen ?? '';
    fetched.delete(event.item.reference.split('/')[1]);
    if (notice.kind === 'offline') notice.hide();
  } else if (event.kind === 'conflict') showConflict(event);
  else if (['signed_out', 'trouble'].includes(event.kind)) notice.showTrouble(event, outbox.count);
  else notice.show('kept', [build('p', { textContent: `${event.item.label}: ${event.kind === 'lost' ? say.lost : say.fault}` })]);
}

function showConflict({ item, stands, seen }) {
  const key = item.reference.split('/')[1];
  const keep = notice.button(say.conflict_keep, () => { marked.delete(key); fetched.delete(key); show(key); });
  const replace = notice.button(say.conflict_replace, () => outbox.add({ ...item, seen, follows: false }), 'main');
  const buttons = build('p', { className: 'row' });
  buttons.append(keep, replace);
  notice.show('kept', [build('p', { textContent: `${item.label}: ${say.conflict}` }), build('p', { textContent: `${say.conflict_stands}: ${stands || say.none} · ${say.conflict_mine}: ${[item.body.mark, item.body.note].filter(Boolean).join(' · ')}` }), buttons]);
  keep.focus();
}

function count() { document.getElementById('counted').textContent = fillIn(say.marks_progress, { done: bar.value, all: bar.max }); }
