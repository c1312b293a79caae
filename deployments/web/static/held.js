// A held paper: lines are marked by key or button, the paper is read again with the marks, and the reading is kept.
import { build, fillIn } from './editor.js';
import './pictures.js';

const main = document.getElementById('content');
const say = JSON.parse(main.dataset.say);
const kinds = JSON.parse(main.dataset.kinds);
const lines = [...document.querySelectorAll('#lines li')];
const places = lines.map((line) => Number(line.dataset.place));
const marks = new Map(JSON.parse(main.dataset.marks).map((mark) => [mark.place, { role: mark.role, type: mark.type }]));
const pages = JSON.parse(main.dataset.pages);
const type = document.getElementById('type');
const picture = document.getElementById('page');
const reason = document.getElementById('reason');
const buttons = ['read', 'keep', 'go'].map((name) => document.getElementById(name));
const roles = { h: 'heading', n: 'number', o: 'option', x: 'nothing', k: 'key', u: '', Backspace: '' };
let current = 0;
let shownPage = 1;

marks.forEach((_, place) => showMark(lines[places.indexOf(place)]));
showReading(JSON.parse(main.dataset.reading));
select(0);
showPage(1);

document.getElementById('lines').addEventListener('click', (event) => {
  const line = event.target.closest('li');
  if (line) select(lines.indexOf(line));
});
document.addEventListener('click', (event) => {
  const button = event.target.closest('button');
  if (!button) return;
  if (button.dataset.role !== undefined) mark(button.dataset.role);
  else if (button.dataset.page) showPage(shownPage + Number(button.dataset.page));
  else if (button.id === 'read') read();
  else if (button.id === 'keep') keep(false);
  else if (button.id === 'go') keep(true);
});
type.addEventListener('change', () => { if (marks.get(places[current])?.role === 'heading') mark('heading'); });
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('select, input, textarea') || document.querySelector('dialog[open]')) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === 'ArrowDown') select(current + 1);
  else if (key === 'ArrowUp') select(current - 1);
  else if (key in roles) mark(roles[key]);
  else if (/^[1-9]$/.test(key) && type.options[Number(key)]) { type.selectedIndex = Number(key); mark('heading'); }
  else if (key === 'r') read();
  else if (key === 's' && !buttons[1].disabled) keep(false);
  else if (key === 'g' && !buttons[2].disabled) keep(true);
  else return;
  event.preventDefault();
});
// Marks are on this page alone until they are kept.
addEventListener('beforeunload', (event) => { if (main.dataset.marked) event.preventDefault(); });

function select(index) {
  if (index < 0 || index >= lines.length) return;
  lines[current].removeAttribute('aria-selected');
  current = index;
  lines[current].setAttribute('aria-selected', 'true');
  lines[current].parentElement.setAttribute('aria-activedescendant', lines[current].id);
  lines[current].scrollIntoView({ block: 'nearest' });
  if (pages.length) showPage(pages.filter((start) => start <= places[current]).length || 1);
}

function mark(role) {
  const line = lines[current];
  if (!role) marks.delete(places[current]);
  else marks.set(places[current], { role, type: role === 'heading' ? type.value || null : null });
  showMark(line);
  main.dataset.marked = 'yes';
  buttons[1].disabled = buttons[2].disabled = true;
  select(current + 1);
}

function showMark(line) {
  if (!line) return;
  const own = marks.get(Number(line.dataset.place));
  line.dataset.role = own?.role ?? '';
  line.querySelector('.role').textContent = own ? say[`role_${own.role}`] + (own.type ? `: ${say[`fine_${own.type}`]}` : '') : '';
}

function showPage(number) {
  if (!picture || number < 1 || number > Number(picture.dataset.last)) return;
  if (number === shownPage && picture.src) return;
  shownPage = number;
  picture.src = picture.dataset.address + number;
  document.getElementById('page-number').textContent = `${number} / ${picture.dataset.last}`;
}

async function read() {
  const found = await send('reading', {});
  if (found) { showReading(found); buttons[1].disabled = buttons[2].disabled = !found.questions.length; }
}

async function keep(release) {
  const found = await send('correction', { release, seen: main.dataset.seen });
  if (found) { main.dataset.seen = found.seen; showReading(found); reason.textContent = release || found.status !== 'held' ? say.paper_goes_on : found.reason; reason.className = release || found.status !== 'held' ? 'good' : 'warning'; delete main.dataset.marked; }
}

async function send(what, more) {
  const closed = buttons.map((button) => button.disabled);
  buttons.forEach((button) => { button.disabled = true; });
  reason.textContent = say.reading_runs;
  const own = [...marks].map(([place, one]) => ({ place, role: one.role, type: one.type }));
  const body = JSON.stringify({ marks: JSON.stringify(own), ...more });
  try {
    let reply = await post(what, body);
    // Somebody signed in again since this page was loaded: its marks go on with the new token.
    if (reply.status === 403) {
      const session = await (await fetch('/session', { headers: { 'x-proctor-form': '' } })).json();
      if (session.user_id === main.dataset.user) main.dataset.formToken = session.form_token;
      reply = await post(what, body);
    }
    const found = await reply.json();
    if (reply.ok) return found;
    if ([401, 403].includes(reply.status)) buttons.forEach((button, place) => { button.disabled = closed[place]; });
    reason.textContent = [401, 403].includes(reply.status) ? say.held_signed_out : found.message ?? say.reading_failed;
  } catch {
    reason.textContent = say.reading_failed;
  } finally {
    buttons[0].disabled = false;
  }
  reason.className = 'warning';
  return null;
}

function post(what, body) {
  const headers = { 'content-type': 'application/json', 'x-proctor-form': main.dataset.formToken };
  return fetch(`/papers/${main.dataset.document}/${what}`, { method: 'POST', headers, body });
}

function showReading(found) {
  reason.textContent = found.reason ?? say.reading_good;
  reason.className = found.status === 'parsed' ? 'good' : 'warning';
  document.getElementById('count').textContent = `${say.questions_found}: ${found.questions.length}`;
  lines.forEach((line, index) => {
    line.classList.toggle('claimed', found.questions.some((one) => one.start !== null && one.start < (places[index + 1] ?? Infinity) && places[index] < one.end));
  });
  document.getElementById('questions').replaceChildren(...found.questions.map(showQuestion));
}

function showQuestion(one, index) {
  const article = document.createElement('article');
  article.classList.toggle('doubted', one.confidence < 0.6);
  const title = document.createElement('h3');
  title.textContent = `${index + 1} · ${kinds[one.type]} · ${one.confidence}`;
  const stem = document.createElement('div');
  stem.append(...showPictures([one.material, one.stem].filter(Boolean).join('\n'), one));
  const options = document.createElement('ul');
  options.replaceChildren(...one.options.map(([label, text]) => { const item = document.createElement('li'); item.append(...showPictures(`${label}. ${text}`, one)); return item; }));
  const answer = document.createElement('div');
  answer.append(...showPictures(`${say.answer_read}: ${one.answer.join('; ') || '—'}`, one));
  article.replaceChildren(title, stem, options, answer);
  return article;
}

// A text with its pictures in the place of their marks; one that is not here stays as its mark.
function showPictures(text, question) {
  return text.split(/(\[picture:\d+\])/).map((part) => {
    const one = question.pictures.find(({ number }) => part === `[picture:${number}]`);
    if (!one) return part;
    const alt = one.alt_text || fillIn(say.picture_undescribed, one);
    const button = build('button', { type: 'button', className: 'picture', ariaLabel: `${fillIn(say.picture_enlarge, one)}: ${alt}` });
    button.dataset.enlarge = '';
    button.append(build('img', { src: one.source, alt, loading: 'lazy' }));
    return button;
  });
}
