// What was begun on a question and not given as a decision: kept in this browser at once, on the server a moment later.
const DELAY_MS = 1200;

export class Drafts {
  constructor(user, batch, outbox) {
    this.user = user;
    this.batch = batch;
    this.outbox = outbox;
    this.timers = new Map();
  }

  // The newer of what this browser and the server kept; null when there is none.
  read(reference, fromServer) {
    let local = null;
    try {
      local = JSON.parse(localStorage.getItem(this.key(reference)));
    } catch { /* a damaged draft is none */ }
    if (local && (!fromServer || local.at >= (fromServer.at ?? 0))) return local;
    return fromServer;
  }

  keep(reference, draft) {
    localStorage.setItem(this.key(reference), JSON.stringify({ ...draft, at: Date.now() }));
    clearTimeout(this.timers.get(reference));
    this.timers.set(reference, setTimeout(() => this.post(reference), DELAY_MS));
  }

  // What goes as a decision stays here until it has arrived; sent as well, it might arrive after it and outlive it.
  hold(reference) { clearTimeout(this.timers.get(reference)); }

  // What was typed after the moment `until` is of no decision yet, and stays.
  drop(reference, isOnServer, until = Infinity) {
    if (this.read(reference, null)?.at > until) return;
    clearTimeout(this.timers.get(reference));
    const wasHere = localStorage.getItem(this.key(reference)) !== null;
    localStorage.removeItem(this.key(reference));
    if (wasHere && isOnServer) this.post(reference);
  }

  async post(reference) {
    const draft = localStorage.getItem(this.key(reference));
    try {
      await fetch(`/review/${this.batch}/question/${reference}/draft`, {
        method: 'POST', keepalive: true, headers: { 'content-type': 'application/json', 'x-proctor-form': this.outbox.formToken }, body: JSON.stringify({ draft: JSON.parse(draft) }),
      });
    } catch { /* it stays in this browser, and goes with the next change */ }
  }

  key(reference) { return `proctor.draft.${this.user}.${this.batch}.${reference}`; }
}
