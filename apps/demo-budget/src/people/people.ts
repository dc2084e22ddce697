import type { Peer } from '@rockpool/client';
import { formatShortId } from '../share/short-id.ts';

/** Somebody else who has the budget open, with all of their tabs. */
export interface Somebody {
  readonly principal: string;
  readonly name: string;
  readonly color: string;
  /** The page that they opened last, in words; empty where it is not known. */
  readonly page: string;
  readonly sinceMs: number;
}

/** The tabs of others by person, the longest here first. This device's own other tabs are nobody else. */
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

/** Up to two letters for a circle. */
export function initials(name: string): string {
  const words = name.split(/\s+/).filter((word) => /^[^\p{Punctuation}]/u.test(word));
  const chosen = words.length > 1 ? [words[0] ?? '', words.at(-1) ?? ''] : words;
  return chosen.map(firstLetter).join('').toLocaleUpperCase();
}

/** As people see it: an emoji is one letter, however many code points it has. */
function firstLetter(word: string): string {
  const [first] = new Intl.Segmenter().segment(word);
  return first?.segment ?? '';
}

function unnamed(principal: string): string {
  return `Someone (${formatShortId(principal.replace(/^device-/, ''))})`;
}

/** It comes from another device: whatever is not as this app writes it is passed over. */
function pageIn(state: unknown): string {
  const page = typeof state === 'object' && state !== null && 'page' in state ? state.page : '';
  return typeof page === 'string' ? page.slice(0, 40) : '';
}
