import { expect, it } from 'vitest';

// Fetched as text from a computed address, because the guide is not a module and is outside the package. The tests'
// server serves the whole repository.
const textOf = async (path: string): Promise<string> =>
  ((await import(/* @vite-ignore */ `/${path}?raw`)) as { default: string }).default;

it('the code of the guide is the code of its example file, byte for byte', async () => {
  const guide = await textOf('docs/guides/client.md');
  const blocks = [...guide.matchAll(/```ts\n(.*?)```\n/gs)].map(([, code]) => code);
  expect(blocks.length).toBeGreaterThan(1);
  const [code] = (await textOf('packages/client/testing/client-guide.ts')).split('\n// The guide ends here');
  expect(blocks.join('\n')).toBe(code);
});

it('the code of the guide runs and does what the guide says', async () => {
  const { seen, end } = await import('./client-guide.ts');
  try {
    expect(seen).toMatchObject({
      inserted: { changes: 2, rows: [{ id: 'a' }, { id: 'b' }] },
      accounts: [{ name: 'Ada' }],
      found: [{ name: 'Ben', place: '[Ben]' }],
      refused: 'not enough',
      lost: [],
      columns: { amount: new Float64Array([30]) },
      streamed: 1,
      wasUndone: true,
      wasRedone: true,
      changed: [{ table: 'account', key: ['b'], kind: 'update' }],
      conflicts: [],
      names: expect.arrayContaining(['client-guide', 'client-guide-copy']),
      code: 'constraint-primary-key: ask-user',
    });
    expect(seen.balances.at(-1)).toEqual([70, 30]);
  } finally {
    await end();
  }
});
