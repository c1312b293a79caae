// Decisions on their way: kept in this browser until the server has them, and sent in order.
//
// A decision is written down here first, then sent; a lost network, a restarted server or a reload only delays it. Each tab
// has an outbox of its own; what a closed tab left is taken over by the next one. Sending twice is harmless: the server
// knows the same decision again.
const ALIVE_MS = 10_000;
const WAITS_MS = [500, 1000, 2000, 4000, 8000, 15_000];

export class Outbox {
  // `report(event)` hears {kind: 'saved'|'conflict'|'faulty'|'closed'|'lost'|'signed_out'|'trouble'|'waiting', item, ...}.
  constructor(user, formToken, report) {
    this.user = user;
    this.formToken = formToken;
    this.report = report;
    // A tab that was duplicated has the name of the other one, and the two would write over each other.
    const before = this.key(sessionStorage.getItem('proctor.tab'));
    this.tab = draw();
    sessionStorage.setItem('proctor.tab', this.tab);
    this.box = read(before) ?? { items: [], seen: {} };
    this.store();
    localStorage.removeItem(before);
    this.tries = 0;
    this.isSending = false;
    this.isSignedOut = false;
    this.waiters = new Map();
    this.adopt();
    setInterval(() => { if (this.box.items.length) this.store(); else this.adopt(); }, 2000);
    addEventListener('online', () => this.send());
    // Who signed in again in another window goes on here.
    addEventListener('focus', () => { this.isSignedOut = false; this.send(); });
  }

  get count() { return this.box.items.length; }

  has(reference) { return this.box.items.some((item) => item.reference === reference); }

  find(reference) { return this.box.items.findLast((item) => item.reference === reference); }

  // Keep a decision and send it; resolves when the server has answered, or when it cannot be reached now.
  add(item) {
    item.id = draw();
    item.at = Date.now();
    item.follows = this.has(item.reference);
    this.box.items.push(item);
    this.store();
    return new Promise((resolve) => { this.waiters.set(item.id, resolve); this.send(); });
  }

  async send() {
    if (this.isSending || this.isSignedOut || !this.box.items.length) return;
    this.isSending = true;
    clearTimeout(this.timer);
    while (this.box.items.length) {
      const item = this.box.items[0];
      const outcome = await this.post(item);
      if (outcome.kind === 'again') continue;
      if (outcome.kind === 'trouble' || outcome.kind === 'signed_out') {
        this.isSignedOut = outcome.kind === 'signed_out';
        for (const one of this.box.items) this.tell(one, outcome);
        this.report({ ...outcome, item });
        if (!this.isSignedOut) this.wait();
        break;
      }
      this.tries = 0;
      this.box.items.shift();
      this.box.seen[item.reference] = outcome.seen ?? null;
      if (!this.has(item.reference)) delete this.box.seen[item.reference];
      this.store();
      this.tell(item, outcome);
      this.report({ ...outcome, item });
    }
    this.isSending = false;
  }

  async post(item) {
    const body = { ...item.body, seen: item.follows ? this.box.seen[item.reference] ?? item.seen : item.seen };
    let reply;
    try {
      reply = await fetch(item.path ?? `/review/${item.batch}/question/${item.reference}/decision`, {
        method: 'POST', keepalive: true, headers: { 'content-type': 'application/json', 'x-proctor-form': this.formToken }, body: JSON.stringify(body),
      });
      const value = await reply.json().catch(() => ({}));
      if (reply.ok) return { kind: 'saved', ...value };
      if (reply.status === 409) return { kind: 'conflict', ...value };
      if (reply.status === 422) return { kind: 'faulty', ...value };
      if (reply.status === 410) return { kind: 'closed' };
      if (reply.status === 400 || reply.status === 413) return { kind: 'faulty', faults: [] };
    } catch {
      return { kind: 'trouble', isOffline: true };
    }
    if (reply.status === 401) return { kind: 'signed_out' };
    if (reply.status === 403 || reply.status === 404) return this.renew(reply.status);
    return { kind: 'trouble', isOffline: false };
  }

  // Somebody signed in again since this page was loaded: the same person goes on with a new token, another one does not.
  async renew(status) {
    try {
      const reply = await fetch('/session', { headers: { 'x-proctor-form': '' } });
      if (reply.status === 401) return { kind: 'signed_out' };
      const session = await reply.json();
      if (session.user_id !== this.user) return { kind: 'signed_out' };
      const isNew = session.form_token !== this.formToken;
      this.formToken = session.form_token;
      if (isNew) return { kind: 'again' };
      return status === 404 ? { kind: 'lost' } : { kind: 'trouble', isOffline: false };
    } catch {
      return { kind: 'trouble', isOffline: true };
    }
  }

  wait() {
    this.timer = setTimeout(() => this.send(), WAITS_MS[Math.min(this.tries, WAITS_MS.length - 1)]);
    this.tries += 1;
  }

  tell(item, outcome) {
    this.waiters.get(item.id)?.(outcome);
    this.waiters.delete(item.id);
  }

  // Take over what tabs left that are closed.
  adopt() {
    for (const key of Object.keys(localStorage)) {
      // No tab has a dot in its name: with one it is of somebody whose name is longer (chen.wei, for chen).
      const isOwn = key.startsWith(this.key('')) && !key.slice(this.key('').length).includes('.');
      if (!isOwn || key === this.key(this.tab)) continue;
      const box = read(key);
      if (!box || Date.now() - box.alive > ALIVE_MS) {
        this.box.items.push(...(box?.items ?? []));
        Object.assign(this.box.seen, box?.seen);
        this.store();
        localStorage.removeItem(key);
      }
    }
    this.send();
  }

  key(tab) { return `proctor.outbox.${this.user}.${tab}`; }

  store() {
    if (this.box.items.length) localStorage.setItem(this.key(this.tab), JSON.stringify({ ...this.box, alive: Date.now() }));
    else localStorage.removeItem(this.key(this.tab));
  }
}

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

function draw() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
