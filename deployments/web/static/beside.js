// Beside a question: similar ones already decided, and the conversation with the coordinators.
import { fetchPatiently } from './original.js';

// Fill the card's place for it; `policy` makes HTML of what our own server has escaped.
export async function showBeside(card, { user, policy, say, readToken }) {
  const place = card.querySelector('.beside');
  const text = place && await fetchPatiently(place.dataset.path).catch(() => null);
  place?.removeAttribute('aria-busy');
  if (!text) return;
  place.replaceChildren(parse(text, policy));
  hearForm();

  function hearForm() {
    const form = place.querySelector('.ask');
    if (!form) return;
    const kept = `proctor.message.${user}.${card.dataset.reference}`;
    const field = form.elements.text;
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
      const reply = await send(field.value).catch(() => null);
      button.disabled = false;
      if (!reply?.ok) { form.querySelector('[role=status]').textContent = reply?.status === 410 ? say.talk_closed : say.talk_kept; return; }
      localStorage.removeItem(kept);
      const had = place.contains(document.activeElement);
      place.querySelector('.talk').replaceWith(parse(await reply.text(), policy));
      hearForm();
      place.querySelector('.ask [role=status]').textContent = say.talk_sent;
      if (had) place.querySelector('.ask textarea').focus();
    });
  }

  function send(words) {
    return fetch(place.dataset.path.replace(/beside$/, 'message'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-proctor-form': readToken() },
      body: JSON.stringify({ text: words }),
    });
  }
}

function parse(text, policy) {
  const holder = document.createElement('template');
  holder.innerHTML = policy.createHTML(text);
  return document.importNode(holder.content, true);
}
