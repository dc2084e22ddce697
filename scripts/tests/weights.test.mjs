import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../children.mjs';
import { dealOut, hasTimeFor, heavyFiles, weightOf } from './weights.mjs';

describe('the files of a run', () => {
  it('are each assigned to one process, with heavy files in different processes', () => {
    const [heaviest = '', second = ''] = Object.keys(heavyFiles);
    const files = [heaviest, 'a', 'b', 'c', second];
    const shards = dealOut(files, 2);
    expect(shards.flat().sort()).toEqual([...files].sort());
    expect(shards.find((shard) => shard.includes(heaviest))).not.toContain(second);
    expect(dealOut(['a'], 4)).toEqual([['a']]);
    expect(dealOut([], 4)).toEqual([]);
  });

  it('share a process for a certain time, and the longest has its own', () => {
    const [heaviest = ''] = Object.keys(heavyFiles);
    expect(hasTimeFor(0, heaviest)).toBe(false);
    expect(hasTimeFor(weightOf(heaviest), 'a')).toBe(false);
    let seconds = 0;
    let count = 0;
    for (; hasTimeFor(seconds, 'a'); count++) seconds += weightOf('a');
    expect(count).toBeGreaterThan(60);
    expect(count).toBeLessThan(140);
  });

  it('include every file with a weight', () => {
    expect(Object.keys(heavyFiles).filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});
