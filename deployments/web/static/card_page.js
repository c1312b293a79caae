// What pages of cards share: HTML of our own server, the line that says how saving is, and a notice above the card.
import { build, fillIn } from './editor.js';

// Our own server has escaped what these texts show; nothing else becomes HTML.
const policy = window.trustedTypes?.createPolicy('proctor', { createHTML: (text) => text }) ?? { createHTML: (text) => text };

export function parse(text) {
  const holder = document.createElement('template');
  holder.innerHTML = policy.createHTML(text);
  return document.importNode(holder.content, true);
}

export function showState(text, isTrouble = false) {
  const state = document.getElementById('state');
  state.textContent = text;
  state.classList.toggle('trouble', isTrouble);
}

// A key that is held down, or the second click of a double one: nobody has read what it would decide.
export function isRepeated(event) { return event.repeat || event.detail > 1; }

export class Notice {
  constructor(say) {
    this.say = say;
    this.place = document.getElementById('notice');
  }

  get kind() { return this.place.hidden ? null : this.place.dataset.kind; }

  // What must be answered (`kept`) is not covered by what is only told.
  show(kind, nodes, isBad = false) {
    if (this.kind === 'kept' && kind !== 'kept') return;
    this.forget();
    this.place.dataset.kind = kind;
    this.place.classList.toggle('bad', isBad);
    this.place.replaceChildren(...nodes);
    this.place.hidden = false;
  }

  hide() {
    this.forget();
    this.place.hidden = true;
  }

  // What was to be done with the network back is not done any more: it was, or somebody went on without it.
  forget() {
    removeEventListener('online', this.again);
    this.again = null;
  }

  tell(text, again) {
    const nodes = [build('p', { textContent: text })];
    if (again) nodes.push(this.button(this.say.go_on, again));
    this.show('said', nodes);
    if (!again) return;
    this.forget();
    this.again = () => { this.forget(); if (this.kind === 'said') this.hide(); again(); };
    addEventListener('online', this.again);
  }

  // A button that closes the notice, and does what it says.
  button(textContent, act = () => {}, className = '') {
    const button = build('button', { type: 'button', textContent, className });
    button.addEventListener('click', () => { this.hide(); act(); });
    return button;
  }

  // Why what was given has not reached the server yet.
  showTrouble(event, count) {
    const isOut = event.kind === 'signed_out';
    const text = isOut ? this.say.signed_out : event.isOffline ? fillIn(this.say.offline, { count }) : this.say.server_trouble;
    const nodes = [build('p', { textContent: text })];
    if (isOut) nodes.push(build('a', { href: `/sign-in?then=${encodeURIComponent(location.pathname)}`, textContent: this.say.sign_in, className: 'button main' }));
    showState(isOut ? text : `${count} ↑`, true);
    this.show(isOut ? 'signed_out' : 'offline', nodes);
  }
}
