import { expect, it } from 'vitest';

// Imported as text from a computed path, because the guide is not a module and is outside the package. The test server
// serves the whole repository.
const textOf = async (path: string): Promise<string> =>
  ((await import(/* @vite-ignore */ `/${path}?raw`)) as { default: string }).default;

it('the code of the guide is the code of its example file, byte for byte', async () => {
  const guide = await textOf('docs/guides/drizzle.md');
  const blocks = [...guide.matchAll(/```ts\n(.*?)```\n/gs)].map(([, code]) => code);
  expect(blocks.length).toBeGreaterThan(1);
  const [code] = (await textOf('packages/client/testing/drizzle/guide.ts')).split('\n// The guide ends here');
  expect(blocks.join('\n')).toBe(code);
});

it('the code of the guide runs and does what the guide says', async () => {
  const { seen, end } = await import('../../testing/drizzle/guide.ts');
  try {
    expect(seen).toMatchObject({
      open: [{ title: 'buy milk', list: 'home' }],
      homeWithTodos: { name: 'home', todos: [{ title: 'buy milk', done: false, dueAt: new Date(2030, 0, 1) }] },
      withMilk: [{ title: 'buy milk' }],
      thisDecade: [{ title: 'buy milk' }],
      renamed: [{ title: 'buy milk today' }],
      moved: [
        { changes: 1, rows: [] },
        { changes: 1, rows: [] },
      ],
      code: 'constraint-unique',
    });
    await expect.poll(() => seen.titles).toEqual([['buy milk today']]);
  } finally {
    await end();
  }
});
