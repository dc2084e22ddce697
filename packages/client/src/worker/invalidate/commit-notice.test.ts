import { describe, expect, it } from 'vitest';
import { createCommitFollower } from './commit-notice.ts';

const notice = (leaderTerm: string, commitNumber: number, table = 't') => ({
  leaderTerm,
  commitNumber,
  tables: [table],
});

function touchedBy(
  ...heard: { leaderTerm: string; commitNumber: number; tables?: string[] }[]
): (readonly string[] | 'all' | null)[] {
  const follower = createCommitFollower();
  return heard.map(({ leaderTerm, commitNumber, tables }) => {
    const touched =
      tables === undefined
        ? follower.observePosition({ leaderTerm, commitNumber })
        : follower.observe({ leaderTerm, commitNumber, tables, changes: [] });
    return touched === null || touched === 'all' ? touched : touched.tables;
  });
}

describe('notices of commits', () => {
  it('in order say which tables were touched', () => {
    expect(touchedBy({ leaderTerm: 'e', commitNumber: 4 }, notice('e', 5, 'a'), notice('e', 6, 'b'))).toEqual([
      'all',
      ['a'],
      ['b'],
    ]);
  });

  it('that come twice or late say nothing new', () => {
    expect(
      touchedBy(notice('e', 5), notice('e', 6), notice('e', 6), notice('e', 5), { leaderTerm: 'e', commitNumber: 6 }),
    ).toEqual(['all', ['t'], null, null, null]);
  });

  it('with a gap mean that everything may have changed, once', () => {
    expect(touchedBy(notice('e', 5), notice('e', 7), notice('e', 8))).toEqual(['all', 'all', ['t']]);
    expect(touchedBy(notice('e', 5), { leaderTerm: 'e', commitNumber: 7 }, notice('e', 8))).toEqual([
      'all',
      'all',
      ['t'],
    ]);
  });

  it('of another leader mean that everything may have changed, whatever their number', () => {
    expect(touchedBy(notice('e', 5), notice('f', 6), notice('f', 7))).toEqual(['all', 'all', ['t']]);
    expect(touchedBy(notice('e', 5), { leaderTerm: 'f', commitNumber: 0 }, notice('f', 1))).toEqual([
      'all',
      'all',
      ['t'],
    ]);
  });
});
