import { expect, it } from 'vitest';
import { stepOf } from './cell-keys.ts';

it.each([
  ['Enter', false, true, { rows: 1, columns: 0 }],
  ['Enter', true, true, { rows: -1, columns: 0 }],
  ['ArrowDown', false, true, { rows: 1, columns: 0 }],
  ['ArrowUp', false, false, { rows: -1, columns: 0 }],
  ['ArrowRight', false, false, { rows: 0, columns: 1 }],
  ['ArrowLeft', false, false, { rows: 0, columns: -1 }],
  ['ArrowRight', false, true, undefined],
  ['ArrowDown', true, false, undefined],
  ['7', false, false, undefined],
] as const)('%s with shift %s while typing %s steps by %o', (key, shiftKey, isTyping, step) => {
  expect(stepOf({ key, shiftKey }, isTyping)).toEqual(step);
});
