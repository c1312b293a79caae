// Beside a question: similar ones already decided, and the conversation with the coordinators.
import { parse } from './card_page.js';
import { fetchPatiently } from './original.js';

// `hear` is told of a message that was sent.
export async function showSimilar(card) {
  const place = card.querySelector('.similar [data-path]');
  const text = await fetchPatiently(place.dataset.path).catch(() => null);
  place.replaceChildren(parse(text ?? ''));
  place.removeAttribute('aria-busy');
}

export function hearAsking(card, options) {
  const { user, say, readToken, hear } = options;
  const form = card.querySelector('.ask');
  if (!form) return;
  const kept = `proctor.message.${user}.${card.dataset.reference}`;
  const field = form.elements.text;
  const state = form.querySelector('[role=status]');
  field.value = localStorage.getItem(kept) ?? '';
  field.addEventListener('input', () => (field.value.trim() ? localStorage.setItem(kept, field.value) : localStorage.removeItem(kept)));
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); event.stopPropagation(); form.requestSubmit(); }
    if (event.key === 'Escape') { event.stopPropagation(); card.focus(); }
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const button = form.querySelector('button');
    button.disabled = true;
    const reply = await send(form.dataset.path, field.value, readToken()).catch(() => null);
    button.disabled = false;
    if (!reply?.ok) { state.textContent = reply?.status === 410 ? say.talk_closed : say.talk_kept; return; }
    localStorage.removeItem(kept);
    const had = form.contains(document.activeElement);
    card.querySelector('.talk').replaceWith(parse(await reply.text()));
    hear();
    hearAsking(card, options);
    card.querySelector('.ask [role=status]').textContent = say.talk_sent;
    if (had) card.querySelector('.ask textarea').focus();
  });
}

function send(path, text, token) {
  const headers = { 'content-type': 'application/json', 'x-proctor-form': token };
  return fetch(path, { method: 'POST', headers, body: JSON.stringify({ text }) });
}
