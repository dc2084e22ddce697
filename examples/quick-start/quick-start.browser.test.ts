import { expect, it, vi } from 'vitest';
import readme from '../../README.md?raw';

it('the README shows the quick start, byte for byte and in at most 25 lines', async () => {
  const { default: source } = await import('./quick-start.ts?raw');
  expect(readme).toContain(`\`\`\`ts\n${source}\`\`\`\n`);
  expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(25);
});

it('the quick start runs with and without a server', async () => {
  // The server of these tests would answer `/token` with 404, which is a fault of the app and reported as an error.
  vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('Failed to fetch'));
  await import('./quick-start.ts');
  await expect.poll(() => document.body.textContent).toBe('buy milk');
});
