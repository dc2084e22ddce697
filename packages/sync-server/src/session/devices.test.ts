import { RockpoolError } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { collectGarbage } from '../../testing/used-memory.ts';
import { Devices } from './devices.ts';

/** Stands for a session: V8 keeps the object whose method creates an error, for the error's stack. */
class Failing {
  fail(): RockpoolError {
    return new RockpoolError('slow-consumer', { limitBytes: 1 });
  }
}

it('the last session of a device keeps its error, but not the session in memory', async () => {
  const devices = new Devices();
  const end = (): WeakRef<Failing> => {
    const session = new Failing();
    devices.ended('household', { site: '1', principal: 'ann', address: null, endedAtMs: 1, error: session.fail() });
    return new WeakRef(session);
  };
  const ended = end();
  // A weak reference that was just created keeps its target until the current task ends.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(ended.deref()).toBeUndefined();
  expect(devices.of('household')).toMatchObject([{ error: { code: 'slow-consumer', fields: { limitBytes: 1 } } }]);
});

it('the last session of a device keeps no outline of a schema', () => {
  const devices = new Devices();
  const error = new RockpoolError('schema-mismatch', { outline: 'a long text', count: 1 });
  devices.ended('household', { site: '1', principal: 'ann', address: null, endedAtMs: 1, error });
  expect(devices.of('household')[0]?.error?.fields).toEqual({ count: 1 });
});
