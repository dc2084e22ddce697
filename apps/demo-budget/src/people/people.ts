import type { Peer } from '@rockpool/client';
import { formatShortId } from '../share/short-id.ts';

/** Another user who has the budget open, with all their tabs. */
export interface Somebody {
  readonly principal: string;
  readonly name: string;
  readonly color: string;
  /** The name of the page they opened last; empty if unknown. */
  readonly page: string;
  readonly sinceMs: number;
}

/** Groups others' tabs by person, longest present first. This device's other tabs are omitted. */
export function peopleOf(others: readonly Peer[], device: string): Somebody[] {
  const people = new Map<string, Somebody>();
  for (const { principal, name, color, sinceMs, state } of others) {
    if (principal === device) continue;
    people.set(principal, {
      principal,
      name: name ?? unnamed(principal),
      color,
      page: pageIn(state),
      sinceMs: people.get(principal)?.sinceMs ?? sinceMs,
    });
  }
  return [...people.values()];
}

/** Up to two initials, for the circle that represents a person. */
export function initials(name: string): string {
  const words = name.split(/\s+/).filter((word) => /^[^\p{Punctuation}]/u.test(word));
  const chosen = words.length > 1 ? [words[0] ?? '', words.at(-1) ?? ''] : words;
  return chosen.map(firstLetter).join('').toLocaleUpperCase();
}

/** Grapheme clusters: an emoji is one letter, however many code points it has. */
function firstLetter(word: string): string {
  const [first] = new Intl.Segmenter().segment(word);
  return first?.segment ?? '';
}

function unnamed(principal: string): string {
  return `Someone (${formatShortId(principal.replace(/^device-/, ''))})`;
}

/** Presence data comes from other devices; anything malformed is ignored. */
function pageIn(state: unknown): string {
  const page = typeof state === 'object' && state !== null && 'page' in state ? state.page : '';
  return typeof page === 'string' ? page.slice(0, 40) : '';
}
