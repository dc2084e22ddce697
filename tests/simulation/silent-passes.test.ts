import { describe, expect, it } from 'vitest';
import { SILENT, silentPassesAsText, tooManySilentPasses } from './silent-passes.ts';
import { Tally } from './tally.ts';

function tallyOf(counts: Readonly<Record<string, number>>): Tally {
  const tally = new Tally();
  tally.include(Object.entries(counts));
  return tally;
}

describe('the silent passes of a run', () => {
  it('fail the run above their ceiling, which applies to the sum of all passes whose names begin with the same text', () => {
    const tally = tallyOf({
      'oracle: changeset judged': 1000,
      'oracle: open row (one)': 81,
      'oracle: open row (other)': 40,
    });
    expect(tooManySilentPasses(tally, 300)).toEqual([
      'oracle: open row: 121 with 1000 of oracle: changeset judged, above 12 %',
    ]);
  });

  it('fail the run if it judged nothing', () => {
    expect(tooManySilentPasses(tallyOf({ [SILENT.unknownContent]: 1 }), 300)).toHaveLength(1);
  });

  it('do not fail a run of few histories', () => {
    expect(tooManySilentPasses(tallyOf({ [SILENT.otherEpoch]: 1 }), 99)).toEqual([]);
  });

  it('are all shown, including those that never happened', () => {
    expect(silentPassesAsText(new Tally()).split('\n')).toHaveLength(13);
  });
});
