import { expect, it } from 'vitest';
import { settle } from '../../../testing/fake-tabs.ts';
import { ProcessTabs } from '../../node/process-tabs.ts';
import { systemClock } from '../leader/clock.ts';
import { newId } from '../../new-id.ts';
import { createWorkerPresence, type WorkerPresence } from './worker-presence.ts';

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

it('the states of a tab leave while its page is suspended, and return with it', async () => {
  const tabs = new ProcessTabs();
  const open = (): WorkerPresence =>
    createWorkerPresence({
      scope: 'test',
      openPort: (channelName) => tabs.openPort(channelName),
      locks: tabs.locks,
      clock: { ...systemClock, after: (_, callback) => systemClock.after(0, callback) },
      onUpdate: () => undefined,
      onProblem: (error) => expect.unreachable(error.code),
    });
  const [leader, follower] = [open(), open()];
  const sent: (string | null)[] = [];
  const line = leader.lead();
  line.connected((states) => void sent.push(...states.map(({ stateJson }) => stateJson)));
  for (const [tab, stateJson] of [
    [leader, '"of the leader"'],
    [follower, '"of the follower"'],
  ] as const) {
    await tab.show(newId(), [{ topic: '', stateJson }]);
    await expect.poll(() => sent.at(-1)).toBe(stateJson);
    tab.suspend();
    await expect.poll(() => sent.at(-1)).toBeNull();
    tab.resume();
    await expect.poll(() => sent.at(-1)).toBe(stateJson);
  }
  line.stop();
  for (const tab of [leader, follower]) tab.close();
});
