import { expect, it } from 'vitest';
import { dateFormat } from './locale.ts';

it.each([
  ['fa-IR', 'مارس ۲۰۲۶'],
  ['th-TH', 'มีนาคม 2026'],
  ['en', 'March 2026'],
])('a month has its Gregorian name, even where a different calendar is usual: %s', (language, words) => {
  const month = dateFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  expect(month.format(Date.UTC(2026, 2, 1))).toBe(words);
});
