// The page of one question: keys and buttons, the next card at once, and what has not reached the server yet.
import { hearAsking, showSimilar } from './beside.js';
import { Notice, isRepeated, parse, showState } from './card_page.js';
import { Drafts } from './drafts.js';
import { Editor, build, fillIn } from './editor.js';
import { fetchAhead, showOriginal } from './original.js';
import { Outbox } from './outbox.js';
import { Pictures, mergePictures } from './pictures.js';

const desk = document.getElementById('content');
const say = JSON.parse(desk.dataset.say);
const words = JSON.parse(desk.dataset.words);
const { user, batch } = desk.dataset;
const place = document.getElementById('card');
const notice = new Notice(say);
const comment = document.getElementById('comment');
const reasons = document.getElementById('reasons');
const help = document.getElementById('help');
const finished = document.getElementById('finished');
const AHEAD = 3;
const BREAK_MS = 10 * 60000;
const STRETCH_MINUTES = 60;

const remembered = read(sessionStorage, `proctor.past.${user}.${batch}`) ?? { past: [], last: null };
const fetched = new Map();
// What was decided on this page: a card that was fetched before still names it as the next one.
const decided = new Set();
let card = null;
let editor = null;
let today = Number(desk.dataset.today);
let isBusy = false;

const outbox = new Outbox(user, desk.dataset.formToken, hear);
const drafts = new Drafts(user, batch, outbox);

enter(place.querySelector('.card'));
history.replaceState({ reference: card.dataset.reference }, '');
showCounts();
showState('');
outbox.send();

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-act], [data-reason]');
  if (!button || isRepeated(event)) return;
  if (button.dataset.reason) reject(button.dataset.reason);
  else acts[button.dataset.act]?.();
});
document.getElementById('open-help').addEventListener('click', () => help.showModal());
document.getElementById('keys-on').checked = localStorage.getItem('proctor.keys') !== 'off';
document.getElementById('keys-on').addEventListener('change', (event) => localStorage.setItem('proctor.keys', event.target.checked ? 'on' : 'off'));
comment.addEventListener('input', keepDraft);
addEventListener('popstate', (event) => { if (event.state?.reference) show(event.state.reference, { isBack: true }); });
document.addEventListener('keydown', press);
// Until here nobody would have heard a click.
for (const button of document.querySelectorAll('.decide [data-act]')) button.disabled = false;

const acts = {
  accept, edit, skip, undo, same,
  reject: () => openReasons(reasons.hidden),
  'close-reasons': () => openReasons(false),
};

function press(event) {
  if (event.isComposing && event.key !== 'Process') return;
  if (document.querySelector('dialog[open]:not(#help)')) return;
  const isTyping = event.target.matches('input:not([type=checkbox], [type=radio]), textarea, select');
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (editor.isOpen) saveEdit();
    else if (event.target === comment && comment.dataset.reason) reject(comment.dataset.reason);
    return;
  }
  if (event.key === 'Escape') {
    if (help.open) return;
    if (event.target === comment) { delete comment.dataset.reason; card.focus(); }
    else if (editor.isOpen) cancelEdit();
    else openReasons(false);
    return;
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || isRepeated(event) || help.open && event.key !== '?') return;
  if (localStorage.getItem('proctor.keys') === 'off') return;
  // With an input method switched on, only the place of the key is told.
  const key = event.key === 'Process' ? event.code.replace(/^(Key|Digit)/, '').replace('Period', '.').toLowerCase() : event.key.toLowerCase();
  if (!reasons.hidden && /^[1-9]$/.test(key)) {
    const chosen = reasons.querySelectorAll('[data-reason]')[Number(key) - 1];
    if (chosen) { event.preventDefault(); reject(chosen.dataset.reason); }
    return;
  }
  const bound = { a: accept, e: edit, r: acts.reject, s: skip, u: undo, '.': same, c: () => comment.focus(), q: () => card?.querySelector('.ask textarea')?.focus(), '?': () => (help.open ? help.close() : help.showModal()) }[key];
  if (!bound || (editor.isOpen && key !== '?')) return;
  event.preventDefault();
  bound();
}

function accept() {
  if (!card || editor.isOpen) return;
  if (card.dataset.acceptFault) return notice.tell(`${say.fault}: ${card.dataset.acceptFault}`);
  decide({ decision: 'accept' });
}

function reject(reason) {
  if (!card) return;
  if (reason === 'other' && !comment.value.trim()) {
    comment.dataset.reason = reason;
    comment.focus();
    return;
  }
  decide({ decision: 'reject', reject_reason: reason });
}

function same() {
  if (!card) return;
  const last = remembered.last;
  if (!last || editor.isOpen) return notice.tell(say.nothing_same);
  if (last.decision === 'accept' && card.dataset.acceptFault) return notice.tell(`${say.fault}: ${card.dataset.acceptFault}`);
  if (!comment.value.trim() && last.comment) comment.value = last.comment;
  decide({ decision: last.decision, reject_reason: last.reject_reason });
}

function edit() {
  if (!card || editor.isOpen) return;
  openReasons(false);
  editor.open();
}

function cancelEdit() {
  editor.close();
  editor.fill(editor.original);
  keepDraft();
  card.focus();
}

async function saveEdit() {
  const corrected = editor.readEdit();
  if (!Object.keys(corrected).length) return editor.showFaults([{ message: say.nothing_changed }]);
  const here = card;
  editor.showFaults([]);
  const outcome = await decide({ decision: 'edit', edit: corrected }, { isWaiting: true });
  if (outcome?.kind === 'faulty' && card === here) editor.showFaults(outcome.faults.length ? outcome.faults : [{ message: say.fault }]);
}

// Write the decision down, go on to the next card, and let the outbox bring it to the server.
async function decide(body, { isWaiting = false } = {}) {
  if (!card || isBusy) return undefined;
  isBusy = true;
  const { reference, seen } = card.dataset;
  const whole = { reject_reason: null, edit: null, ...body, comment: comment.value.trim() || null };
  showState(say.saving);
  drafts.hold(reference);
  const sent = outbox.add({ reference, batch, seen: seen || null, body: whole, label: card.querySelector('h2').textContent.trim() });
  let outcome;
  // A correction may break a rule that only the server knows: its answer is waited for, unless the network is gone.
  if (isWaiting) {
    outcome = await sent;
    if (!['saved', 'trouble', 'signed_out'].includes(outcome.kind)) { isBusy = false; return outcome; }
  }
  remembered.past = [...remembered.past.filter((one) => one !== reference), reference].slice(-200);
  if (body.decision !== 'edit') remembered.last = { ...whole };
  remember();
  fetched.delete(reference);
  isBusy = false;
  await advance();
  return outcome;
}

function skip() {
  if (!card || editor.isOpen) return;
  if (!card.dataset.next) return notice.tell(say.end_of_queue);
  advance();
}

// The next question of the queue that was not decided here already.
async function advance() {
  let reference = card.dataset.next;
  const passed = new Set();
  while (reference && (outbox.has(reference) || decided.has(reference)) && !passed.has(reference)) {
    passed.add(reference);
    reference = (await fetchCard(reference))?.dataset.next;
  }
  if (!reference || passed.has(reference)) return finish();
  await show(reference);
}

async function undo() {
  if (isBusy || editor?.isOpen) return;
  const here = card?.dataset.reference;
  const at = remembered.past.lastIndexOf(here);
  let reference = at >= 0 ? remembered.past[at - 1] : remembered.past.at(-1);
  if (!reference) {
    const seen = card?.dataset.seen ?? '';
    try {
      const reply = await fetch(`/review/${batch}/previous?before=${encodeURIComponent(seen)}`, { headers: { 'x-proctor-form': outbox.formToken } });
      reference = reply.ok ? (await reply.json()).reference : null;
    } catch { /* told below */ }
  }
  if (!reference || reference === here) return notice.tell(say.nothing_before);
  fetched.delete(reference);
  await show(reference);
}

async function show(reference, { isBack = false } = {}) {
  const found = await fetchCard(reference);
  if (!found) {
    notice.tell(outbox.isSignedOut ? say.signed_out : fillIn(say.offline, { count: outbox.count }), () => show(reference, { isBack }));
    return;
  }
  if (!isBack) history.pushState({ reference }, '', `/review/${batch}/question/${reference}`);
  place.replaceChildren(found);
  enter(found);
  card.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function enter(found) {
  card = found;
  document.body.classList.remove('is-editing');
  finished.hidden = true;
  place.hidden = false;
  openReasons(false);
  if (notice.kind !== 'kept') notice.hide();
  delete comment.dataset.reason;
  comment.value = '';
  editor = new Editor(card.querySelector('.editor'), JSON.parse(card.dataset.original), say, keepDraft);
  editor.pictures = new Pictures(editor, card, say, () => outbox.formToken);
  editor.pictures.fill(editor.original.pictures);
  editor.form.addEventListener('submit', (event) => { event.preventDefault(); saveEdit(); });
  editor.form.querySelector('.cancel').addEventListener('click', cancelEdit);
  const unsent = outbox.find(card.dataset.reference);
  const own = unsent?.body ?? (card.dataset.given ? JSON.parse(card.dataset.given) : null);
  if (unsent) showOwn(unsent.body);
  if (own) {
    comment.value = own.comment ?? '';
    if (own.edit) editor.fill({ ...editor.original, ...own.edit, pictures: mergePictures(editor.original.pictures, own.edit.pictures) });
  }
  const draft = drafts.read(card.dataset.reference, card.dataset.draft ? JSON.parse(card.dataset.draft) : null);
  if (draft && !(draft.at <= unsent?.at)) {
    comment.value = draft.comment ?? '';
    if (draft.form) { editor.fillForm(draft.form); editor.show(); }
    notice.tell(say.draft_kept);
  }
  const here = card;
  look(card.dataset.next, AHEAD);
  const shown = originalPath(card);
  showSimilar(card);
  hearAsking(card, { user, say, readToken: () => outbox.formToken, hear: () => fetched.delete(here.dataset.reference) });
  if (shown) showOriginal(card, shown).then(() => card === here && lookAtNext());
}

function originalPath(found) { return found.querySelector('.original')?.dataset.path; }

async function lookAtNext() {
  const next = card?.dataset.next ? await fetchCard(card.dataset.next) : null;
  const path = next && originalPath(next);
  if (path) fetchAhead(path);
}

// Fetch what comes next before it is asked for.
async function look(reference, count) {
  if (!reference || !count || reference === card.dataset.reference) return;
  const next = await fetchCard(reference);
  if (next) look(next.dataset.next, count - 1);
}

function fetchCard(reference) {
  if (!fetched.has(reference)) {
    const coming = fetch(`/review/${batch}/question/${reference}/card`, { headers: { 'x-proctor-form': outbox.formToken } })
      .then(async (reply) => {
        if (reply.status === 401) { outbox.isSignedOut = true; hear({ kind: 'signed_out' }); }
        return reply.ok ? reply.text() : null;
      })
      .catch(() => null);
    fetched.set(reference, coming);
    coming.then((text) => { if (text === null) fetched.delete(reference); });
  }
  return fetched.get(reference).then((text) => (text === null ? null : parse(text).querySelector('.card')));
}

function finish() {
  card = null;
  document.body.classList.remove('is-editing');
  place.hidden = true;
  finished.hidden = false;
  finished.focus();
}

// What the outbox tells of a decision.
function hear(event) {
  const { item } = event;
  if (event.kind === 'saved') {
    drafts.drop(item.reference, false, item.at);
    fetched.delete(item.reference);
    decided.add(item.reference);
    today = event.today;
    const bar = document.getElementById('progress');
    if (bar) bar.value = event.decided;
    showCounts();
    if (card?.dataset.reference === item.reference) { card.dataset.seen = event.seen ?? ''; showOwn(item.body); }
    showState(outbox.count > 1 ? say.saving : say.saved);
    suggestRest();
    if (['offline', 'signed_out'].includes(notice.kind)) notice.hide();
  } else if (event.kind === 'conflict') showConflict(event);
  else if (event.kind === 'faulty') {
    showState(say.fault, true);
    if (card?.dataset.reference !== item.reference) showKept(`${say.fault}: ${item.label}. ${(event.faults ?? []).map((fault) => fault.message).join(' ')}`, item);
  } else if (event.kind === 'closed') showKept(say.closed, item);
  else if (event.kind === 'lost') showKept(say.lost, item);
  else if (['signed_out', 'trouble'].includes(event.kind)) notice.showTrouble(event, outbox.count);
}

function showConflict({ item, stands, seen }) {
  showState(say.conflict, true);
  const compare = build('div', { className: 'compare' });
  for (const [heading, text] of [[say.conflict_stands, stands || say.none], [say.conflict_mine, describe(item.body)]]) {
    const side = build('div', {});
    side.append(build('h3', { textContent: heading }), build('p', { textContent: text }));
    compare.append(side);
  }
  const keep = notice.button(say.conflict_keep, () => { drafts.drop(item.reference, true); if (card?.dataset.reference === item.reference) reload(); });
  const replace = notice.button(say.conflict_replace, () => outbox.add({ ...item, seen, follows: false }), 'main');
  const buttons = build('p', { className: 'row' });
  buttons.append(keep, replace, lookButton(item));
  notice.show('kept', [build('p', { textContent: `${item.label}: ${say.conflict}` }), compare, buttons]);
  keep.focus();
}

function reload() {
  fetched.delete(card.dataset.reference);
  show(card.dataset.reference, { isBack: true });
}

// A message about a question that may have left the screen; it stays until it is closed.
function showKept(text, item) {
  const buttons = build('p', { className: 'row' });
  buttons.append(lookButton(item), notice.button(say.close));
  notice.show('kept', [build('p', { textContent: text }), buttons], true);
}

function lookButton(item) {
  const button = build('button', { type: 'button', className: 'plain', textContent: item.label });
  button.addEventListener('click', () => { fetched.delete(item.reference); show(item.reference); });
  return button;
}

function showOwn(body) {
  const own = card.querySelector('.own');
  own.hidden = false;
  own.replaceChildren(build('h3', { textContent: say.your_decision }), build('p', { textContent: describe(body) }));
}

function describe(body) {
  return [words.decisions[body.decision], words.reasons[body.reject_reason], body.comment].filter(Boolean).join(' · ');
}

function openReasons(isOpen) {
  reasons.hidden = !isOpen;
  document.querySelector('[data-act=reject]').setAttribute('aria-expanded', String(isOpen));
}

function keepDraft() {
  if (!card) return;
  const draft = { comment: comment.value, form: editor.isOpen ? editor.readForm() : null };
  if (draft.comment.trim() || draft.form) drafts.keep(card.dataset.reference, draft);
  else drafts.drop(card.dataset.reference, true);
}

function showCounts() {
  const bar = document.getElementById('progress');
  if (bar) document.getElementById('counted').textContent = fillIn(say.progress, { done: bar.value, all: bar.max });
  document.getElementById('today').textContent = fillIn(say.today, { done: today, quota: desk.dataset.quota });
}

// Whoever has done the day's share, or decided for an hour without a break, is told once: nothing is held back.
function suggestRest() {
  const now = Date.now(), day = new Date().toDateString(), kept = read(localStorage, `proctor.rest.${user}`) ?? {};
  const isBroken = !kept.last || now - kept.last > BREAK_MS;
  const rest = { since: isBroken ? now : kept.since, last: now, quota: kept.quota, told: isBroken ? false : kept.told };
  const minutes = Math.round((now - rest.since) / 60000);
  if (today >= Number(desk.dataset.quota) && rest.quota !== day) {
    rest.quota = day;
    advise(fillIn(desk.dataset.due ? say.quota_due : say.quota_reached, { done: today, quota: desk.dataset.quota }));
  } else if (minutes >= STRETCH_MINUTES && !rest.told) {
    rest.told = true;
    advise(fillIn(say.break_due, { minutes }));
  }
  localStorage.setItem(`proctor.rest.${user}`, JSON.stringify(rest));
}

function advise(text) {
  notice.show('rest', [build('p', { textContent: text }), notice.button(say.close)]);
}

function remember() { sessionStorage.setItem(`proctor.past.${user}.${batch}`, JSON.stringify(remembered)); }

function read(store, key) {
  try {
    return JSON.parse(store.getItem(key));
  } catch {
    return null;
  }
}
