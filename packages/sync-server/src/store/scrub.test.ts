import { expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { Scrubber } from './scrub.ts';

it.each([2 ** 31, Infinity])('a pause of %d ms between two passes is no pause of 1 ms', async (passIntervalMs) => {
  const warned = vi.spyOn(process, 'emitWarning');
  onTestFinished(() => warned.mockRestore());
  const nothing = (): void => undefined;
  const scrubber = new Scrubber({
    ...{ dataDir: temporaryFolder(), onDamaged: nothing, onFailure: nothing },
    times: { sliceIntervalMs: 50, passIntervalMs },
  });
  // Node says that it takes a longer time as 1 ms.
  expect(warned).not.toHaveBeenCalled();
  await scrubber.close();
});
