import type { EditingTrace } from './replay.ts';

/** Simulates a person who types, goes back to change words, and continues elsewhere. Deterministic per seed. */
export function typist(seed: number, keys: number): EditingTrace {
  let random = seed;
  const below = (bound: number): number => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((random / 2 ** 32) * bound);
  };
  const txns: EditingTrace['txns'][number][] = [];
  let text = '';
  let caret = 0;
  for (let key = 0; key < keys; key++) {
    if (below(4) === 0) caret = below(text.length + 1);
    if (caret > 0 && below(5) === 0) {
      caret--;
      txns.push({ patches: [[caret, 1, '']] });
      text = text.slice(0, caret) + text.slice(caret + 1);
    } else {
      const character = 'the tide comes in '[below(18)] as string;
      txns.push({ patches: [[caret, 0, character]] });
      text = text.slice(0, caret) + character + text.slice(caret);
      caret++;
    }
  }
  return { startContent: '', endContent: text, txns };
}
