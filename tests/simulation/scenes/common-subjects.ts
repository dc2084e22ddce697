import type { Subject } from '../subject-writes.ts';

/** The rows that devices that write at the same time are likely to share. */
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
