import { RockpoolError } from '@rockpool/shared';
import { expect, it, vi } from 'vitest';
import * as loading from '../../load-part.ts';
import { changelogCode, isChangelogCodeLoaded } from './load-changelog-code.ts';

vi.mock('../../load-part.ts', async (importOriginal) => {
  const original = await importOriginal<typeof loading>();
  return { ...original, loadPart: vi.fn(original.loadPart) };
});

it('a change of the site id before its code is loaded fails with a named error, and the next attempt works', async () => {
  vi.mocked(loading.loadPart).mockRejectedValueOnce(new RockpoolError('code-unloadable', { part: 'changelog' }));
  for (let attempt = 0; attempt < 2; attempt++)
    expect(changelogCode).toThrow(expect.objectContaining({ code: 'code-unloadable', fields: { part: 'changelog' } }));
  await expect.poll(isChangelogCodeLoaded).toBe(true);
  expect(changelogCode().renumber).toBeInstanceOf(Function);
});
