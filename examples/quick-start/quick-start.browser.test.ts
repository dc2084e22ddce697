import { expect, it, vi } from 'vitest';
import readme from '../../README.md?raw';

it('the README shows the quick start, byte for byte and in at most 25 lines', async () => {
  const sources = [await import('./schema.ts?raw'), await import('./quick-start.ts?raw')].map((file) => file.default);
  for (const source of sources) expect(readme).toContain(`\`\`\`ts\n${source}\`\`\`\n`);
  expect(sources.flatMap((source) => source.trimEnd().split('\n')).length).toBeLessThanOrEqual(25);
});

it('the quick start runs with and without a server', async () => {
  // Vite responds with the page itself to a path for which there is no file.
  const answer = async (): Promise<Response> => new Response('<!doctype html>\n<title>Quick start</title>');
  vi.spyOn(globalThis, 'fetch').mockImplementation(answer);
  await import('./quick-start.ts');
  await expect.poll(() => document.body.textContent).toBe('buy milk');
});
