import { expect, it } from 'vitest';
import { shortcutOf } from './keys.ts';

it.each([
  ['я', 'KeyZ', 'z'],
  ['Я', 'KeyZ', 'z'],
  ['ז', 'KeyZ', 'z'],
  // A German keyboard has Z where an English one has Y.
  ['z', 'KeyY', 'z'],
  ['Z', 'KeyZ', 'Z'],
  ['é', 'Digit2', 'é'],
  ['ArrowDown', 'ArrowDown', 'ArrowDown'],
])('a shortcut works on any keyboard: %s at %s is %s', (key, code, shortcut) => {
  expect(shortcutOf({ key, code })).toBe(shortcut);
});
