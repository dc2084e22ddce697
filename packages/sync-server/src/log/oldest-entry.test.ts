import { describe, expect, it } from 'vitest';
import { OldestEntry } from './oldest-entry.ts';

describe('the oldest entry of a log', () => {
  it('may have expired before the first check', () => {
    expect(new OldestEntry().mayBeBefore(0, 1_000)).toBe(true);
  });

  it('is known until it expires', () => {
    const oldest = new OldestEntry();
    oldest.note(500, 1_000);
    expect(oldest.mayBeBefore(500, 1_100)).toBe(false);
    expect(oldest.mayBeBefore(501, 1_101)).toBe(true);
  });

  it('counts as received right after the check if the log is empty', () => {
    const oldest = new OldestEntry();
    oldest.note(null, 1_000);
    expect(oldest.mayBeBefore(1_000, 9_000)).toBe(false);
    expect(oldest.mayBeBefore(1_001, 9_001)).toBe(true);
  });

  it('is unknown after another instance changed entries, and after the clock was set back', () => {
    const oldest = new OldestEntry();
    oldest.note(500, 1_000);
    expect(oldest.mayBeBefore(0, 999)).toBe(true);
    oldest.note(500, 1_000);
    oldest.forget();
    expect(oldest.mayBeBefore(0, 1_000)).toBe(true);
  });
});
