// The page of the original beside a question: fetched when the card is there, and the next one ahead of time.
import { parse } from './card_page.js';

const waiting = new Map();

// Fill the card's place for it.
export async function showOriginal(card, path) {
  const place = card.querySelector('.original');
  if (!place) return;
  const text = await fetchOriginal(path);
  if (text === null) { place.replaceChildren(); place.removeAttribute('aria-busy'); waiting.delete(path); return; }
  place.replaceChildren(parse(text));
  place.removeAttribute('aria-busy');
  place.querySelectorAll('[data-original=toggle]').forEach((button) => button.addEventListener('click', () => toggle(button)));
}

// Have the next page drawn before it is asked for.
export async function fetchAhead(path) {
  const text = await fetchOriginal(path);
  const address = text?.match(/<image href="([^"]+)"/)?.[1];
  if (address) new Image().src = address;
}

function fetchOriginal(path) {
  if (!waiting.has(path)) {
    if (waiting.size > 20) waiting.delete(waiting.keys().next().value);
    waiting.set(path, fetchPatiently(path).catch(() => null));
  }
  return waiting.get(path);
}

// While many papers are being drawn, or questions compared, the server asks to come back.
export async function fetchPatiently(path, tries = 20) {
  const reply = await fetch(path, { headers: { 'x-proctor-form': '' } });
  if (![202, 503].includes(reply.status) || !tries) return reply.ok ? reply.text() : null;
  await new Promise((resolve) => setTimeout(resolve, 1500));
  return fetchPatiently(path, tries - 1);
}

function toggle(button) {
  const figure = button.closest('figure');
  const isWhole = button.getAttribute('aria-expanded') === 'true';
  figure.querySelector('svg').setAttribute('viewBox', isWhole ? figure.dataset.part : figure.dataset.whole);
  button.setAttribute('aria-expanded', String(!isWhole));
  [button.textContent, button.dataset.other] = [button.dataset.other, button.textContent];
}
