import { expect, it } from 'vitest';
import { rankShards, shardProblems, type Shard } from './shard.ts';

const URL_OF_A = 'postgresql://ann:secret@a/rockpool';

it('new databases are divided in proportion to the weights of the shards, and a shard with weight 0 gets none', () => {
  const shards: Shard[] = [
    { name: 'a', url: URL_OF_A, weight: 1 },
    { name: 'b', url: URL_OF_A, weight: 3 },
    { name: 'c', url: URL_OF_A, weight: 0 },
  ];
  const counts = new Map<string, number>();
  for (let i = 0; i < 8_000; i++) {
    const [first, second, ...more] = rankShards(`db-${i}`, shards);
    expect([second?.name, more]).toEqual([first?.name === 'a' ? 'b' : 'a', []]);
    counts.set(first?.name ?? '', (counts.get(first?.name ?? '') ?? 0) + 1);
  }
  expect((counts.get('b') ?? 0) / 8_000).toBeCloseTo(0.75, 1);
  expect([...counts.keys()].sort()).toEqual(['a', 'b']);
});

it('a new shard receives its share of the databases, and the other databases stay where they are', () => {
  const two: Shard[] = ['a', 'b'].map((name) => ({ name, url: URL_OF_A }));
  const three = [...two, { name: 'c', url: URL_OF_A }];
  for (let i = 0; i < 500; i++) {
    const [before, after] = [rankShards(`db-${i}`, two)[0]?.name, rankShards(`db-${i}`, three)[0]?.name];
    expect(after === before || after === 'c').toBe(true);
  }
});

it.each([
  [[], 'the list is empty'],
  [[{ name: 'A!', url: URL_OF_A }], 'entry 1: the name must have'],
  [
    [
      { name: 'a', url: URL_OF_A },
      { name: 'a', url: URL_OF_A },
    ],
    'a: two entries',
  ],
  [[{ name: 'a', url: 'mysql://ann:secret@a/rockpool' }], 'a: the url'],
  [[{ name: 'a', url: URL_OF_A, weight: -1 }], 'a: the weight'],
  [[{ name: 'a', url: URL_OF_A, weight: 0 }], 'every weight is 0'],
])('the list of shards %j is refused without quoting a URL', (shards, problem) => {
  const problems = shardProblems(shards).join('\n');
  expect(problems).toContain(problem);
  expect(problems).not.toContain('secret');
});
