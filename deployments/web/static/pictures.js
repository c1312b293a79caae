// Pictures of a question: enlarged in a window, and in a correction cut again, replaced, described, moved or removed.
import { build, fillIn } from './editor.js';

const LABELS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const SVG = 'http://www.w3.org/2000/svg';
const EDGES = ['left', 'top', 'right', 'bottom'];

// A picture that is chosen is shown as large as the window allows.
document.addEventListener('click', (event) => {
  const shown = event.target.closest('[data-enlarge]')?.querySelector('img');
  if (!shown) return;
  // Up to three times its own size, while it fits the height of the window; one that is larger is never made smaller than its width allows.
  const grown = Math.min(3, Math.max(1, (window.innerHeight - 220) / (shown.naturalHeight || 1)));
  const image = build('img', { src: shown.src, alt: shown.alt, width: Math.round(grown * shown.naturalWidth) });
  open('enlarged', [image, build('p', { className: 'quiet', textContent: shown.alt })], []);
});

// The rows of the editor: one for each picture that is there, with the place in which its mark stands.
export class Pictures {
  constructor(editor, card, say, readToken) {
    Object.assign(this, { editor, card, say, readToken, held: [] });
    this.place = editor.form.querySelector('[data-field=pictures]');
    this.address = editor.form.dataset.address;
    for (const [name, act] of [['add-cut', () => this.cut(null)], ['add-file', () => this.take(null)]]) {
      this.place.querySelector(`.${name}`).addEventListener('click', act);
    }
  }

  fill(pictures) {
    this.held = pictures.map((one) => ({ ...one }));
    this.draw();
  }

  // What is other than it was, by number; what no text names any more is left out by the texts.
  readChanged(original) {
    const before = new Map(original.map((one) => [one.number, JSON.stringify(pick(one))]));
    return this.held.filter((one) => this.find(one.number) && before.get(one.number) !== JSON.stringify(pick(one))).map(pick);
  }

  draw() {
    this.place.querySelector('.picture-rows').replaceChildren(...this.held.map((one) => this.build(one)));
  }

  build(one) {
    const { say } = this;
    const name = fillIn(say.picture_number, one);
    const row = build('li', {});
    const image = build('img', { src: `${this.address}/picture/${one.sha256}`, alt: one.alt_text || fillIn(say.picture_undescribed, one) });
    const enlarge = build('button', { type: 'button', className: 'picture' });
    enlarge.dataset.enlarge = '';
    enlarge.setAttribute('aria-label', fillIn(say.picture_enlarge, one));
    enlarge.append(image);
    const alt = build('textarea', { rows: 2, maxLength: 4000, value: one.alt_text ?? '' });
    alt.addEventListener('input', () => { one.alt_text = alt.value.trim() || null; });
    const where = build('select', {});
    const at = this.find(one.number);
    for (const [value, label] of [...this.list().map(([place, , label]) => [place, label]), ['', say.picture_nowhere]]) where.append(new Option(label, value, false, value === (at ?? '')));
    where.addEventListener('change', () => this.move(one.number, where.value));
    const buttons = build('p', { className: 'row' });
    for (const [text, act] of [[say.picture_crop, () => this.cut(one)], [say.picture_replace, () => this.take(one)], [say.picture_remove, () => this.move(one.number, '')]]) {
      const button = build('button', { type: 'button', textContent: text });
      button.setAttribute('aria-label', `${text}: ${name}`);
      button.addEventListener('click', act);
      buttons.append(button);
    }
    const fields = build('div', {});
    fields.append(build('b', { textContent: name }), label(say.picture_alt, alt), label(say.picture_place, where), buttons);
    row.append(enlarge, fields);
    return row;
  }

  // Every text that may hold a picture: its place, its field and its name.
  list() {
    const { form } = this.editor;
    const rows = (selector, name) => [...form.querySelectorAll(selector)].map((field, at) => [`${name}${at}`, field, name === 'option' ? fillIn(this.say.option, { label: LABELS[at] }) : fillIn(this.say.answer_number, { number: at + 1 })]);
    return [
      ...['material', 'stem'].map((name) => [name, form.elements[name], this.say[name]]),
      ...rows('.option-rows textarea', 'option'), ...rows('.answer-rows textarea', 'answer'),
      ['explanation', form.elements.explanation, this.say.explanation],
    ];
  }

  find(number) { return this.list().find(([, field]) => field.value.includes(`[picture:${number}]`))?.[0]; }

  move(number, place) {
    const mark = `[picture:${number}]`;
    for (const [name, field] of this.list()) {
      if (field.value.includes(mark)) field.value = field.value.replaceAll(mark, '').replace(/[ \t]+$/gm, '').trim();
      if (name === place) field.value = field.value ? `${field.value}${name.startsWith('option') ? ' ' : '\n'}${mark}` : mark;
    }
    this.editor.update();
    this.draw();
    this.place.querySelectorAll('select')[this.held.findIndex((one) => one.number === number)]?.focus();
  }

  put(one, made) {
    const number = one?.number ?? Math.max(0, ...this.held.map((each) => each.number)) + 1;
    if (one) one.sha256 = made.sha256;
    else this.held.push({ number, sha256: made.sha256, alt_text: null });
    if (this.find(number)) { this.editor.update(); this.draw(); } else this.move(number, 'stem');
    this.place.querySelectorAll('.picture-rows textarea')[this.held.findIndex((each) => each.number === number)]?.focus();
  }

  async send(body, state) {
    state.textContent = this.say.saving;
    const reply = await fetch(`${this.address}/picture`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-proctor-form': this.readToken() }, body: JSON.stringify(body) }).catch(() => null);
    const answer = await reply?.json().catch(() => null);
    if (reply?.ok) { state.textContent = ''; return answer; }
    state.textContent = answer?.message ?? this.say.picture_trouble;
    return null;
  }

  take(one) {
    const input = build('input', { type: 'file', accept: 'image/png,image/jpeg,image/gif,image/bmp,image/tiff,image/webp' });
    const state = this.place.querySelector('[role=status]');
    input.addEventListener('change', () => {
      const reader = new FileReader();
      reader.addEventListener('load', async () => {
        const made = await this.send({ data: reader.result.split(',')[1] }, state);
        if (made) this.put(one, made);
      });
      if (input.files[0]) reader.readAsDataURL(input.files[0]);
    });
    input.click();
  }

  // A rectangle on a page of the paper, by the mouse or by its edges.
  cut(one) {
    const { say } = this;
    const shown = [...this.card.querySelectorAll('.original figure')];
    const pages = shown.map((figure) => Number(figure.querySelector('image').getAttribute('href').match(/(\d+)\.png$/)[1]));
    if (!pages.length) { this.place.querySelector('[role=status]').textContent = say.picture_no_page; return; }
    const [, , width, height] = shown[0].dataset.whole.split(' ').map(Number);
    const part = shown[0].dataset.part.split(' ').map(Number);
    const box = [part[0] / width, part[1] / height, (part[0] + part[2]) / width, (part[1] + part[3]) / height].map((share) => Math.round(share * 1000));
    const svg = document.createElementNS(SVG, 'svg');
    const image = document.createElementNS(SVG, 'image');
    const frame = document.createElementNS(SVG, 'rect');
    set(svg, { viewBox: `0 0 ${width} ${height}`, class: 'cut-page', role: 'img', 'aria-label': say.picture_crop });
    set(image, { width, height });
    set(frame, { class: 'mark' });
    svg.append(image, frame);
    const page = build('input', { type: 'number', min: 1, value: pages[0] });
    const edges = EDGES.map((name, at) => build('input', { type: 'number', min: 0, max: 1000, step: 5, value: box[at], name }));
    const showPage = () => image.setAttribute('href', `${this.address}/page/${page.value}.png`);
    const showBox = () => {
      const [left, top, right, bottom] = edges.map((edge) => Number(edge.value));
      set(frame, { x: left * width / 1000, y: top * height / 1000, width: Math.max(0, right - left) * width / 1000, height: Math.max(0, bottom - top) * height / 1000 });
    };
    let start = null;
    const point = (event) => {
      const { left, top, width: wide, height: tall } = svg.getBoundingClientRect();
      return [(event.clientX - left) / wide, (event.clientY - top) / tall].map((share) => Math.round(Math.min(1, Math.max(0, share)) * 1000));
    };
    svg.addEventListener('pointerdown', (event) => { event.preventDefault(); start = point(event); svg.setPointerCapture(event.pointerId); });
    svg.addEventListener('pointermove', (event) => {
      if (!start) return;
      const [x, y] = point(event);
      [Math.min(start[0], x), Math.min(start[1], y), Math.max(start[0], x), Math.max(start[1], y)].forEach((value, at) => { edges[at].value = value; });
      showBox();
    });
    svg.addEventListener('pointerup', () => { start = null; });
    page.addEventListener('input', showPage);
    edges.forEach((edge) => edge.addEventListener('input', showBox));
    showPage();
    showBox();
    const numbers = build('div', { className: 'edges' });
    numbers.append(label(say.picture_page, page), ...[say.edge_left, say.edge_top, say.edge_right, say.edge_bottom].map((name, at) => label(name, edges[at])));
    const state = build('p', {});
    state.setAttribute('role', 'status');
    const use = build('button', { type: 'button', className: 'main', textContent: say.picture_use });
    const window = open('cut', [build('p', { textContent: say.picture_crop_help }), numbers, state, svg], [use], say);
    use.addEventListener('click', async () => {
      use.disabled = true;
      const made = await this.send({ page: Number(page.value), box: edges.map((edge) => Number(edge.value)) }, state);
      use.disabled = false;
      if (made) { window.close(); this.put(one, made); }
    });
    edges[0].focus();
  }
}

// What was corrected before, put over what is there.
export function mergePictures(original, changed) {
  const by = new Map([...original, ...(changed ?? [])].map((one) => [one.number, one]));
  return [...by.values()].sort((one, other) => one.number - other.number);
}

function open(name, nodes, buttons) {
  const window = build('dialog', { className: name });
  const close = build('button', { type: 'button', textContent: document.getElementById('content').dataset.close });
  close.addEventListener('click', () => window.close());
  const row = build('p', { className: 'row' });
  row.append(...buttons, close);
  window.setAttribute('aria-label', nodes[0].alt ?? nodes[0].textContent);
  window.append(row, ...nodes);
  window.addEventListener('close', () => window.remove());
  document.body.append(window);
  window.showModal();
  close.focus();
  return window;
}

function pick({ number, sha256, alt_text }) { return { number, sha256, alt_text: alt_text || null }; }

function label(text, field) {
  const made = build('label', { textContent: text });
  made.append(field);
  return made;
}

function set(node, values) { for (const [name, value] of Object.entries(values)) node.setAttribute(name, value); }
