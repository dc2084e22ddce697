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

describe('a follower of commit notices', () => {
  it('reports the touched tables of notices in order', () => {
    expect(touchedBy({ leaderTerm: 'e', commitNumber: 4 }, notice('e', 5, 'a'), notice('e', 6, 'b'))).toEqual([
      'all',
      ['a'],
      ['b'],
    ]);
  });

  it('reports nothing for a notice that comes twice or late', () => {
    expect(
      touchedBy(notice('e', 5), notice('e', 6), notice('e', 6), notice('e', 5), { leaderTerm: 'e', commitNumber: 6 }),
    ).toEqual(['all', ['t'], null, null, null]);
  });

  it('reports that everything may have changed after a change of the schema', () => {
    expect(touchedBy(notice('e', 5), notice('e', 6, 'sqlite_master'), notice('e', 7))).toEqual(['all', 'all', ['t']]);
  });

  it('reports once that everything may have changed if a notice is missing', () => {
    expect(touchedBy(notice('e', 5), notice('e', 7), notice('e', 8))).toEqual(['all', 'all', ['t']]);
    expect(touchedBy(notice('e', 5), { leaderTerm: 'e', commitNumber: 7 }, notice('e', 8))).toEqual([
      'all',
      'all',
      ['t'],
    ]);
  });

  it('reports that everything may have changed for a notice of a different leader, whatever its number', () => {
    expect(touchedBy(notice('e', 5), notice('f', 6), notice('f', 7))).toEqual(['all', 'all', ['t']]);
    expect(touchedBy(notice('e', 5), { leaderTerm: 'f', commitNumber: 0 }, notice('f', 1))).toEqual([
      'all',
      'all',
      ['t'],
    ]);
  });
});
