// Correcting a question in its place: the form, what it changes, and the difference beside each field.
import { showDifference } from './difference.js';

const TEXTS = ['material', 'stem', 'explanation', 'sub_discipline'];
const LABELS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export class Editor {
  constructor(form, original, say, changed) {
    this.form = form;
    this.original = original;
    this.say = say;
    this.changed = changed;
    this.pictures = null;
    this.fill(original);
    form.addEventListener('input', () => this.update());
    form.querySelector('.add-option').addEventListener('click', () => this.act((value) => value.options.push({ text: '', isKey: false }), 'options'));
    form.querySelector('.add-answer').addEventListener('click', () => this.act((value) => value.answers.push(''), 'answers'));
    form.querySelector('.restore').addEventListener('click', () => { this.fill(this.original); this.update(); });
  }

  get isOpen() { return !this.form.hidden; }

  open() {
    this.show();
    const field = this.form.elements[this.original.answer.length ? 'stem' : 'explanation'];
    const target = this.original.answer.length ? field : this.form.querySelector('.answer-rows input, .answer-rows textarea, .option-rows input') ?? field;
    target.focus();
    if (target.matches('textarea')) target.setSelectionRange(target.value.length, target.value.length);
    this.form.scrollIntoView({ block: 'start' });
  }

  // While a correction is under way, nothing else can be decided.
  show() {
    this.form.hidden = false;
    document.body.classList.add('is-editing');
    this.grow();
  }

  close() {
    this.form.hidden = true;
    document.body.classList.remove('is-editing');
    this.showFaults([]);
  }

  // The corrected fields in the form in which they are stored; what is as it was is left out.
  readEdit() {
    const now = this.readContent();
    const corrected = Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(this.original[name]));
    const pictures = this.pictures?.readChanged(this.original.pictures) ?? [];
    if (pictures.length) corrected.push(['pictures', pictures]);
    return Object.fromEntries(corrected);
  }

  readContent() {
    const { values, options, answers } = this.readForm();
    const content = { question_type: values.question_type, discipline: values.discipline || null };
    for (const name of TEXTS) content[name] = values[name] || (name === 'stem' ? '' : this.original[name] === '' ? '' : null);
    content.options = options.map((option, place) => ({ label: LABELS[place], text: option.text }));
    if (this.hasKeys()) content.answer = options.flatMap((option, place) => (option.isKey ? [LABELS[place]] : []));
    else content.answer = answers.map((text) => text.trim()).filter(Boolean);
    return content;
  }

  // What a draft keeps: the fields as they stand, finished or not.
  readForm() {
    const values = Object.fromEntries([...TEXTS, 'question_type', 'discipline'].map((name) => [name, this.form.elements[name].value]));
    const options = [...this.form.querySelectorAll('.option-rows li')].map((row) => ({
      text: row.querySelector('textarea').value, isKey: row.querySelector('input').checked,
    }));
    const rows = this.form.querySelector('.answer-rows');
    const chosen = rows.querySelector('input[type=radio]:checked');
    const answers = rows.querySelector('input[type=radio]') ? (chosen ? [chosen.value] : []) : [...rows.querySelectorAll('textarea')].map((area) => area.value);
    return { values, options, answers, pictures: this.pictures?.held ?? [] };
  }

  fillForm({ values, options, answers, pictures }) {
    for (const [name, value] of Object.entries(values)) if (this.form.elements[name]) this.form.elements[name].value = value ?? '';
    this.drawOptions(options);
    this.drawAnswers(answers);
    this.update(true);
    this.pictures?.fill(pictures ?? this.original.pictures);
  }

  fill(content) {
    const values = Object.fromEntries([...TEXTS, 'question_type', 'discipline'].map((name) => [name, content[name] ?? '']));
    const options = content.options.map((option) => ({ text: option.text, isKey: content.answer.includes(option.label) }));
    this.fillForm({ values, options, answers: [...content.answer], pictures: content.pictures });
  }

  hasKeys() { return this.form.elements.question_type.value === 'multiple_choice'; }

  act(change, part) {
    const value = this.readForm();
    change(value);
    this.fillForm(value);
    this.update();
    this.form.querySelector(part === 'options' ? '.option-rows li:last-child textarea' : '.answer-rows label:last-child textarea')?.focus();
  }

  drawOptions(options) {
    const rows = options.map((option, place) => {
      const row = document.createElement('li');
      const text = build('textarea', { rows: 1, value: option.text });
      text.setAttribute('aria-label', fillIn(this.say.option, { label: LABELS[place] }));
      const key = build('input', { type: 'checkbox', checked: option.isKey });
      const keyLabel = build('label', { className: 'inline' });
      keyLabel.append(key, this.say.key_mark);
      const remove = build('button', { type: 'button', className: 'plain', textContent: '×' });
      remove.setAttribute('aria-label', fillIn(this.say.remove_option, { label: LABELS[place] }));
      remove.addEventListener('click', () => this.act((value) => value.options.splice(place, 1), ''));
      row.append(build('b', { textContent: `${LABELS[place]}.` }), text, keyLabel, remove);
      return row;
    });
    this.form.querySelector('.option-rows').replaceChildren(...rows);
  }

  drawAnswers(answers) {
    this.type = this.form.elements.question_type.value;
    const isTruth = this.type === 'true_false';
    const rows = isTruth
      ? ['true', 'false'].map((value) => {
        const row = build('label', { className: 'inline' });
        row.append(build('input', { type: 'radio', name: 'truth', value, checked: answers[0] === value }), this.say[value]);
        return row;
      })
      : (answers.length ? answers : ['']).map((text, place) => {
        const row = build('label', {});
        row.append(build('span', { className: 'hidden', textContent: fillIn(this.say.answer_number, { number: place + 1 }) }), build('textarea', { rows: 1, value: text }));
        return row;
      });
    this.form.querySelector('.answer-rows').replaceChildren(...rows);
    const keyed = this.hasKeys();
    this.find('answer').hidden = keyed;
    this.find('options').hidden = !keyed && !this.form.querySelector('.option-rows li');
    this.form.querySelector('.add-answer').hidden = isTruth;
    for (const label of this.form.querySelectorAll('.option-rows label')) label.hidden = !keyed;
  }

  update(isSilent = false) {
    if (this.form.elements.question_type.value !== this.type) {
      const { answers } = this.readForm();
      if (this.hasKeys() && !this.form.querySelector('.option-rows li')) this.drawOptions([{ text: '' }, { text: '' }]);
      this.drawAnswers(this.form.elements.question_type.value === 'true_false' ? [] : answers);
    }
    const now = this.readContent();
    for (const name of ['material', 'stem', 'explanation', 'options', 'answer']) {
      const shown = this.find(name).querySelector('.difference');
      const [before, after] = [write(this.original[name]), write(now[name])];
      shown.hidden = before === after;
      shown.replaceChildren(before === after ? '' : showDifference(before, after));
      // The key of a choice is set beside its options, and so is what changes in it.
      if (name === 'answer' && this.hasKeys() && before !== after) this.find('options').querySelector('.difference').append('\n', showDifference(before, after));
      if (name === 'answer' && this.hasKeys() && before !== after) this.find('options').querySelector('.difference').hidden = false;
    }
    this.grow();
    if (!isSilent) this.changed();
  }

  showFaults(faults) {
    const list = this.form.querySelector('.faults');
    list.hidden = !faults.length;
    list.replaceChildren(...faults.map((fault) => build('li', { textContent: fault.message })));
    if (faults.length) list.scrollIntoView({ block: 'center' });
  }

  grow() {
    for (const area of this.form.querySelectorAll('textarea')) {
      area.rows = Math.min(14, Math.max(area.closest('li, .answer-rows') ? 1 : 2, ...[area.value.split('\n').reduce((sum, line) => sum + 1 + Math.floor(line.length / 60), 0)]));
    }
  }

  find(name) { return this.form.querySelector(`[data-field=${name}]`); }
}

export function fillIn(text, parts) { return text.replace(/\{(\w+)\}/g, (_, name) => parts[name]); }

export function build(name, values) { return Object.assign(document.createElement(name), values); }

function write(value) {
  if (value === null || value === undefined) return '';
  if (!Array.isArray(value)) return value;
  return value.map((part) => (typeof part === 'string' ? part : `${part.label}. ${part.text}`)).join('\n');
}
