// What a correction takes away and puts in, as nodes: words and numbers are compared whole, Chinese by character.
const TOKENS = /[A-Za-z]+|\d+|\s+|[^]/gu;
const MOST_CELLS = 400_000;

export function showDifference(before, after) {
  const shown = document.createDocumentFragment();
  for (const [kind, text] of compare(before.match(TOKENS) ?? [], after.match(TOKENS) ?? [])) {
    const node = kind === 'same' ? document.createTextNode(text) : document.createElement(kind);
    if (kind !== 'same') node.textContent = text;
    shown.append(node);
  }
  return shown;
}

function compare(old, young) {
  let head = 0;
  while (head < old.length && head < young.length && old[head] === young[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < young.length - head && old.at(-1 - tail) === young.at(-1 - tail)) tail += 1;
  const middle = compareMiddle(old.slice(head, old.length - tail), young.slice(head, young.length - tail));
  const parts = [['same', old.slice(0, head).join('')], ...middle, ['same', tail ? old.slice(-tail).join('') : '']];
  return join(parts.filter(([, text]) => text));
}

// The longest common subsequence; of very long texts the whole middle counts as changed.
function compareMiddle(old, young) {
  if (old.length * young.length > MOST_CELLS) return [['del', old.join('')], ['ins', young.join('')]];
  const width = young.length + 1;
  const length = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = young.length - 1; j >= 0; j -= 1) {
      length[i * width + j] = old[i] === young[j]
        ? length[(i + 1) * width + j + 1] + 1
        : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
    }
  }
  const parts = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < young.length) {
    if (i < old.length && j < young.length && old[i] === young[j]) {
      parts.push(['same', old[i]]);
      i += 1;
      j += 1;
    } else if (i < old.length && (j === young.length || length[(i + 1) * width + j] >= length[i * width + j + 1])) {
      parts.push(['del', old[i]]);
      i += 1;
    } else {
      parts.push(['ins', young[j]]);
      j += 1;
    }
  }
  return parts;
}

function join(parts) {
  const joined = [];
  for (const [kind, text] of parts) {
    if (joined.length && joined.at(-1)[0] === kind) joined.at(-1)[1] += text;
    else joined.push([kind, text]);
  }
  return joined;
}
