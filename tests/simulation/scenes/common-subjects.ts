import type { Subject } from '../writes.ts';

/** What devices that write at the same time are likely to meet in. */
export const COMMON_SUBJECTS: readonly Subject[] = [
  'pair',
  'pair',
  'note',
  'low',
  'title',
  'entry note',
  'rename',
  'page ends',
  'page item',
  'page text',
];
