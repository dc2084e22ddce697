import { expect, it } from 'vitest';
import { settle } from '../../../testing/fake-tabs.ts';
import { ProcessTabs } from '../../node/process-tabs.ts';
import { systemClock } from '../leader/clock.ts';
import { createWorkerPresence } from './worker-presence.ts';

it('a tab whose page first shows a state while it is suspended takes part in presence when it is back', async () => {
  const tabs = new ProcessTabs();
  const presence = createWorkerPresence({
    scope: 'test',
    openPort: (channelName) => tabs.openPort(channelName),
    locks: tabs.locks,
    clock: systemClock,
    onUpdate: () => undefined,
    onProblem: () => undefined,
  });
  presence.suspend();
  await presence.show('tab', [{ topic: '', stateJson: '"away"' }]);
  presence.resume();
  let isShown = false;
  void presence.show('tab', [{ topic: '', stateJson: '"here"' }]).then(() => (isShown = true));
  await settle();
  expect(isShown).toBe(true);
  presence.close();
});
